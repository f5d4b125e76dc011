import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** The version of the program, as `package.json` has it. */
export const version: string = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))).version;

/** What the program calls itself to every server that it asks something. */
export const userAgent = `watchpost/${version}`;
