import { z } from 'zod';
import { ApiAnswer, ApiTimeout, ApiTls } from '../over-api.ts';
import { Spec } from './spec.ts';

/** Without `headers` and `send`: nodes send strangers' bytes to no one. */
export const apiOptions = z.strictObject({
  timeout: ApiTimeout(10_000),
  family: Spec.shape.family,
  protocol: Spec.shape.protocol,
  expect: ApiAnswer,
  tls: ApiTls.optional().describe('Certificates and names for wss.'),
});
