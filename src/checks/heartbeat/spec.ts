import { z } from 'zod';
import { FilePath } from '#kernel/file-path.ts';
import { always, refuseBoth } from '#kernel/refine.ts';
import { Duration } from '#kernel/unit-schemas.ts';

const secretHint = 'expected the hash that "watchpost beat new" prints: 64 hexadecimal digits';

export const Spec = z
  .strictObject({
    type: z.literal('heartbeat'),
    host: z.string().max(200).default('').describe('Where the job runs, for people. Nothing is sent there.'),
    secret_hash: z
      .string()
      .regex(/^[0-9a-fA-F]{64}$/, { error: secretHint })
      .transform((hash) => hash.toLowerCase())
      .optional()
      .describe('The SHA-256 of the secret in the address that the job calls.'),
    secret_file: FilePath.optional().describe('A file that holds that secret, instead of secret_hash.'),
    grace: Duration({ min: '1s', max: '30d' }).default(300_000).describe('How late a ping of the job may be.'),
    max_runtime: Duration({ min: '1s', max: '30d' })
      .optional()
      .describe('How long a run may take that said when it began. Default: until the next one is late.'),
  })
  .refine(({ secret_hash, secret_file }) => secret_hash !== undefined || secret_file !== undefined, {
    path: ['secret_hash'],
    error: 'is missing: "watchpost beat new NAME" makes a secret and prints its hash',
    ...always,
  })
  .superRefine((spec, context) => refuseBoth(spec, 'secret_hash', 'secret_file', context), always);
export type Spec = z.output<typeof Spec>;
