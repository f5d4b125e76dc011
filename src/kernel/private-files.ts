import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import process from 'node:process';

const folderMode = 0o700;

/** The mode of files that only their owner may read. */
export const privateMode = 0o600;

/** Makes a folder that only its owner may enter, with those above it; one that is there already stays as it is. */
export async function makePrivateFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: folderMode });
}

/** The same at once, and without those above it unless asked. */
export function makePrivateFolderSync(path: string, { recursive = false } = {}): void {
  mkdirSync(path, { recursive, mode: folderMode });
}

/**
 * Sees to it that a file is there, and that only its owner may read it, as far as we are that; SQLite gives the files beside its
 * own the same mode.
 */
export function keepPrivate(path: string): void {
  closeSync(openSync(path, 'a', privateMode));
  const { mode, uid } = statSync(path);
  if ((mode & 0o777) !== privateMode && uid === process.getuid?.()) chmodSync(path, privateMode);
}

// What a container's runtime puts there has the mode that the runtime chose, and no other user is in the container.
const runtimeSecrets = '/run/secrets/';

/** Whether every user of this machine may read a file with a secret in it. */
export async function isExposed(path: string): Promise<boolean> {
  return !path.startsWith(runtimeSecrets) && ((await stat(path)).mode & 0o004) !== 0;
}

/** What to do about a file that is exposed. */
export const exposedAdvice = (path: string) =>
  `${path} holds a secret, and every user of this machine may read it: chmod o-r '${path}'`;
