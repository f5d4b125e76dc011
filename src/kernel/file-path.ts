import { z } from 'zod';

/** The path of a file whose contents the program needs. Keys of it end in `_file`: that is how they are found and read. */
export const FilePath = z.string().min(1).max(4_096);
