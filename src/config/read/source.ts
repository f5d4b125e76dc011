import { isUtf8 } from 'node:buffer';
import { glob, readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { messageOf, systemCode, WatchpostError } from '#kernel/errors.ts';

export interface SourceText {
  /** The name as errors show it. */
  readonly file: string;
  readonly text: string;
}

export interface Sources {
  /** The folder that relative paths in the configuration start from; absolute. */
  readonly folder: string;
  readonly sources: readonly SourceText[];
}

/** Called with each file that the configuration names before it is read, and awaited. */
export type FileListener = (path: string) => void | Promise<void>;

/** The file, or the `*.yaml` and `*.yml` files of the folder in the order of their names. Hidden files do not count. */
export async function readSources(path: string): Promise<Sources> {
  const isFolder = (await orExplain(path, stat(path))).isDirectory();
  if (!isFolder) return { folder: resolve(dirname(path)), sources: [await readSource(path)] };

  const names = (await orExplain(path, readdir(path))).filter(isConfigFile).toSorted();
  if (names.length === 0) {
    throw new WatchpostError('config_invalid', `${path}: this folder holds no *.yaml or *.yml file`);
  }
  const sources = await Promise.all(names.map(async (name) => readSource(join(path, name))));
  return { folder: resolve(path), sources };
}

/** The files of a pattern with `*`, in the order of their names; a path without one is itself. */
export async function filesLike(pattern: string): Promise<readonly string[]> {
  if (!pattern.includes('*')) return [pattern];
  const found: string[] = [];
  for await (const path of glob(pattern)) found.push(path);
  return found.toSorted();
}

/** Whether a file of a folder belongs to the configuration. */
export function isConfigFile(name: string): boolean {
  return /^[^.].*\.ya?ml$/.test(name);
}

async function readSource(file: string): Promise<SourceText> {
  const bytes = await orExplain(file, readFile(file));
  if (isUtf8(bytes)) return { file, text: bytes.toString('utf8') };
  const line = lineOfBadBytes(bytes);
  throw new WatchpostError('config_invalid', `${file}:${line}:1: this line is not UTF-8; save the file as UTF-8`);
}

function lineOfBadBytes(bytes: Buffer): number {
  let [line, start] = [1, 0];
  for (let end = bytes.indexOf(10); end !== -1 && isUtf8(bytes.subarray(start, end)); end = bytes.indexOf(10, start)) {
    [line, start] = [line + 1, end + 1];
  }
  return line;
}

/** The explanation of a system error for the user who wrote a path. */
export function explainSystemError(error: unknown): string {
  switch (systemCode(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'there is no such file';
    case 'EACCES':
    case 'EPERM':
      return 'this user may not read it';
    case 'EISDIR':
      return 'it is a folder';
    default:
      return messageOf(error);
  }
}

/** The error of a file that cannot be read, for the user who named it. */
export async function orExplain<T>(path: string, reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    throw new WatchpostError('config_invalid', `${path}: cannot be read: ${explainSystemError(error)}`, {
      cause: error,
    });
  }
}
