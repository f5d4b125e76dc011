import { z } from 'zod';
import type { Secret } from './secret.ts';

/** The path of a file whose contents the program needs. Keys of it end in `_file`: that is how they are found and read. */
export const FilePath = z.string().min(1).max(4_096);

/** What the files of a section hold, by the key that names them from the section down: `password_file`, `dkim.key_file`. */
export type Files = Readonly<Record<string, Secret>>;
