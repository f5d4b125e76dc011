import { z } from 'zod';

const Text = z.string().max(200);

/** What a registry says of a domain. */
export const Detail = z.strictObject({
  /** When the registration ends; null if the registry does not tell. */
  expires_at: z.iso.datetime().nullable(),
  registrar: Text.nullable(),
  /** Such as `active` or `client transfer prohibited` (RFC 8056). */
  status: z.array(Text).max(20),
  /** The server that said so, and when: it is not asked with every check. */
  server: Text,
  asked_at: z.iso.datetime(),
  /** Why it could not be asked since then; null if there was no need. */
  problem: Text.nullable(),
});
export type Detail = z.output<typeof Detail>;
