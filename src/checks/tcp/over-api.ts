import { z } from 'zod';
import { ApiAnswer, ApiTimeout, ApiTls } from '../over-api.ts';
import { Spec } from './spec.ts';

/** Without `send` and `steps`: nodes send strangers' bytes to no one. The dialogues of presets are ours. */
export const apiOptions = z.strictObject({
  timeout: ApiTimeout(5_000),
  family: Spec.shape.family,
  tls: z
    .union([z.boolean(), ApiTls])
    .default(false)
    .describe('Whether to start TLS, and how: at once, or with `starttls`.'),
  expect: ApiAnswer,
  preset: Spec.shape.preset,
  starttls: Spec.shape.starttls,
});
