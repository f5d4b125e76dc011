import { systemCode } from './errors.ts';
import type { Secret } from './secret.ts';

/** What the files of a section hold, by the key that names them from the section down: `password_file`, `dkim.key_file`. */
export type SecretFiles = Readonly<Record<string, Secret>>;

/** What was done with a file, or null if it is not there. What else is wrong with it is thrown. */
export async function unlessMissing<Result>(doing: Promise<Result>): Promise<Result | null> {
  try {
    return await doing;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
}
