import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { sha256 } from '#kernel/hash.ts';
import { find, problemAt, type SourceNode } from '../read/located.ts';
import type { Problem } from '../read/problem.ts';
import { explainSystemError, type FileListener } from '../read/source.ts';
import type { LogoImage } from '../shape/pages.ts';

const largest = 262_144;

// By what they begin with: the PNG specification, section 5.2; JFIF; the WebP container (RFC 9649, section 2.4).
const kinds: readonly (readonly [type: string, isIt: (bytes: Buffer) => boolean])[] = [
  ['image/png', (bytes) => bytes.subarray(0, 8).toString('latin1') === '\u{89}PNG\r\n\u{1a}\n'],
  ['image/jpeg', (bytes) => bytes.subarray(0, 3).toString('hex') === 'ffd8ff'],
  ['image/webp', (bytes) => /^RIFF[\s\S]{4}WEBP/.test(bytes.toString('latin1', 0, 12))],
  ['image/svg+xml', (bytes) => /<svg[\s>]/.test(bytes.toString('utf8', 0, 4_096))],
];

interface LogoContext {
  readonly folder: string;
  readonly problems: Problem[];
  /** Called with each file that is named. */
  readonly onFile: FileListener;
}

/** Reads the logos of status pages, by the name of the page. What cannot be used is added to `problems`. */
export async function readLogos(
  root: SourceNode,
  { folder, problems, onFile }: LogoContext,
): Promise<ReadonlyMap<string, LogoImage>> {
  const logos = new Map<string, LogoImage>();
  for (const page of find(root, ['pages'])?.children.keys() ?? []) {
    const path = ['pages', page, 'logo_file'];
    const written = find(root, path)?.value;
    if (typeof written !== 'string' || written === '') continue;
    const file = resolve(folder, written);
    await onFile(file);
    try {
      const bytes = await readFile(file);
      const [type] = kinds.find(([, isIt]) => isIt(bytes)) ?? [];
      const fault =
        bytes.length > largest ? 'is larger than 256 KiB' : type === undefined ? 'is not SVG, PNG, JPEG or WebP' : null;
      if (fault === null && type !== undefined)
        logos.set(page, { type, bytes, digest: sha256(bytes.toString('base64')).slice(0, 12) });
      else problems.push(problemAt(root, path, `${file} ${fault}`));
    } catch (error) {
      problems.push(problemAt(root, path, `cannot read ${file}: ${explainSystemError(error)}`));
    }
  }
  return logos;
}
