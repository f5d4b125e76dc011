import { z } from 'zod';
import { ServerDetail } from '../database/detail-schema.ts';

/** What was found of an SSH server; `value` is what the command printed. */
export const Detail = ServerDetail.extend({
  /** The fingerprint of the host key, `SHA256:...`; null if it did not come to that. */
  host_key: z.string().max(64).nullable(),
  /** The kind of the host key, such as `ssh-ed25519`. */
  host_key_type: z.string().max(64).nullable(),
  /** The exit code of the command; null if there was none. */
  exit: z.int().min(0).nullable(),
});
export type Detail = z.output<typeof Detail>;
