import { z } from 'zod';
import { Size } from '#kernel/unit-schemas.ts';
import { ApiTimeout } from '../over-api.ts';
import { oneOrMore } from '../one-or-more.ts';
import { BodyExpectation, HeaderName, HeaderValue, HttpExpectation, mostConditions, Spec, Tls } from './spec.ts';

// Credentials have no place in checks that anyone with the link can read, and targets are to see who asks.
const reserved = /^(?:authorization|cookie|forwarded|from|host|proxy-.*|user-agent|via|x-forwarded-.*|x-real-ip)$/i;

const ApiHeaderName = HeaderName.refine((name) => !reserved.test(name), {
  error: 'this header cannot be set over the API',
});

const ApiHeaders = z
  .record(ApiHeaderName, HeaderValue.max(1_024))
  .refine((headers) => Object.keys(headers).length <= 20, { error: 'must have at most 20 entries' })
  .default({})
  .describe('Request headers, at most 20, without credentials and those that say who asks.');

const ApiHeaderExpectation = z.union([
  HeaderValue,
  z.strictObject({ absent: z.literal(true).describe('There must be no such header.') }),
]);

const { contains, not_contains } = BodyExpectation.shape;

/**
 * Only requests that change nothing (RFC 9110, section 9.2.1), to one address: no bodies, credentials, proxies or redirects. No regular
 * expressions and certificates, which are costly to read.
 */
export const apiOptions = z.strictObject({
  timeout: ApiTimeout(10_000),
  method: z.enum(['GET', 'HEAD', 'OPTIONS']).default('GET').describe('Request method.'),
  headers: ApiHeaders,
  family: Spec.shape.family,
  http2: Spec.shape.http2,
  tls: Tls.pick({ server_name: true, verify: true }).optional().describe('Certificates and names for https.'),
  max_body: Size({ min: 0, max: 65_536 }).default(65_536).describe('How much of the body is read.'),
  expect: HttpExpectation.omit({ headers: true, body: true })
    .extend({
      headers: z
        .record(HeaderName, oneOrMore(ApiHeaderExpectation, mostConditions))
        .optional()
        .describe('Headers of the answer: their exact value or {absent: true}; a list: all of these.'),
      body: z.strictObject({ contains, not_contains }).optional().describe('What the body must say.'),
    })
    .optional()
    .describe('What makes the answer a good one.'),
});
