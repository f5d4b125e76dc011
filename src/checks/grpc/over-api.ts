import { z } from 'zod';
import { ApiTimeout, ApiTls } from '../over-api.ts';
import { Spec } from './spec.ts';

export const apiOptions = z.strictObject({
  timeout: ApiTimeout(5_000),
  family: Spec.shape.family,
  health_of: Spec.shape.health_of,
  tls: z.union([z.boolean(), ApiTls]).default(false).describe('Whether to start TLS, and how.'),
});
