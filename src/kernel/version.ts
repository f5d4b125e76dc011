import { readFileSync } from 'node:fs';
import { isRecord } from './json.ts';

/** The version of the program, as `package.json` has it. */
export const version: string = versionIn(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

/** What the program calls itself to every server that it asks something. */
export const userAgent = `watchpost/${version}`;

function versionIn(manifest: string): string {
  const read: unknown = JSON.parse(manifest);
  if (isRecord(read) && typeof read['version'] === 'string') return read['version'];
  throw new TypeError('package.json has no version');
}
