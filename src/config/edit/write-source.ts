import { randomUUID } from 'node:crypto';
import { chmod, chown, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { systemCode } from '#kernel/errors.ts';

/**
 * Writes a file in one step, with the mode and the owner that it has; a link stays a link. A file that is mounted by itself, as in a container, cannot
 * be replaced: it is written in place.
 */
export async function writeSource(written: string, text: string): Promise<void> {
  const path = await realpath(written);
  const { mode, uid, gid } = await stat(path);
  // What an edit that was cut off left behind must not stop the next one.
  const incoming = `${path}.${randomUUID()}.new`;
  try {
    await writeFile(incoming, text, { mode, flag: 'wx' });
    // Without what the umask takes away.
    await chmod(incoming, mode);
    await chown(incoming, uid, gid);
    await rename(incoming, path);
  } catch (error) {
    await rm(incoming, { force: true });
    if (!['EBUSY', 'EACCES', 'EPERM', 'EROFS'].includes(systemCode(error) ?? '')) throw error;
    await writeFile(path, text);
  }
}
