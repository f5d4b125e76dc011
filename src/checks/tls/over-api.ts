import { z } from 'zod';
import { ApiTimeout, ApiTls } from '../over-api.ts';
import { Spec, TlsExpectation } from './spec.ts';

export const apiOptions = z.strictObject({
  timeout: ApiTimeout(5_000),
  family: Spec.shape.family,
  starttls: Spec.shape.starttls,
  ...ApiTls.shape,
  expect: TlsExpectation.omit({ issuer: true, not_revoked: true }).optional().describe('What the certificate must be.'),
});
