import { z } from 'zod';

const Text = z.string().max(300);

/** What a server's certificate says. Texts are the server's own, made one line and cut. */
export const Certificate = z.strictObject({
  subject: Text,
  issuer: Text,
  /** Names and addresses it is for, at most 100. */
  names: z.array(Text).max(100),
  valid_from: z.iso.datetime(),
  valid_to: z.iso.datetime(),
  /** SHA-256, hexadecimal with colons. */
  fingerprint: Text,
  /** The certificates above it as far as the server or our store gave them, at most 10. */
  chain: z.array(z.strictObject({ subject: Text, issuer: Text, valid_to: z.iso.datetime() })).max(10),
});
export type Certificate = z.output<typeof Certificate>;
