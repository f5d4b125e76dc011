import { z } from 'zod';
import { messageOf } from '#kernel/errors.ts';
import { Duration, Size } from '#kernel/unit-schemas.ts';
import { type Endpoint, formatHost, formatHostPort, portOf } from '../endpoint.ts';
import { Host } from '../host-schema.ts';
import { ConnectionFamily, refuseBothWithProxy, refuseFamiliesOfAddress } from '../family-schema.ts';
import { oneOrMore } from '../one-or-more.ts';
import { PatternText } from '../pattern-schema.ts';
import { headerText, longestHeader } from './header-text.ts';
import { compilePath } from './json-path.ts';
import { OAuth2 } from './oauth2.ts';
import { Pem } from './pem.ts';
import { HttpProxy } from './proxy.ts';
import { StatusRanges } from './status-ranges-schema.ts';

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

// What frames a message or ends a connection is the probe's own business (RFC 9112, sections 6 and 9).
const framing = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

export const HeaderName = z
  .string()
  .max(100)
  .regex(/^[\w!#$%&'*+.^`|~-]+$/, { error: 'expected the name of a header, such as "x-token"' })
  .refine((name) => !framing.has(name.toLowerCase()), { error: 'this header is set by the check itself' });

export const HeaderValue = z.string().max(longestHeader).regex(headerText, {
  error: 'must not contain line breaks, control characters or characters beyond Latin-1',
});

const Regex = PatternText();

const Scalar = z.union([z.string().max(10_000), z.number(), z.boolean(), z.null()]);

export const JsonPathText = z.string().max(1_000).superRefine(refineWith(compilePath));

const JsonExpectation = z.strictObject({
  path: JsonPathText.describe('JSONPath (RFC 9535) of the values to compare, such as "$.status".'),
  equals: Scalar.optional().describe('One of the values must equal this.'),
  not: Scalar.optional().describe('None of the values may equal this.'),
  regex: Regex.optional().describe('Regular expression (RE2) that one of the values, a text or a number, must match.'),
  min: z.number().optional().describe('One of the values must be a number, and at least this.'),
  max: z.number().optional().describe('One of the values must be a number, and at most this.'),
  exists: z.boolean().optional().describe('False: there must be no such value. Default: there must be one.'),
});
export type JsonExpectation = z.output<typeof JsonExpectation>;

export const mostConditions = 20;
const BodyText = oneOrMore(z.string().min(1).max(10_000), mostConditions);
const BodyRegex = oneOrMore(Regex, mostConditions);

export const BodyExpectation = z.strictObject({
  contains: BodyText.optional().describe('Text that the body must contain, or a list: all of them.'),
  not_contains: BodyText.optional().describe('Text that the body must not contain, or a list: none of them.'),
  regex: BodyRegex.optional().describe(
    'Regular expression (RE2: no look-aheads, no references to groups) that must match somewhere in the body, or a list.',
  ),
  not_regex: BodyRegex.optional().describe('Regular expression (RE2) that must match nowhere in the body, or a list.'),
  json: oneOrMore(JsonExpectation, mostConditions)
    .optional()
    .describe('What the body must say, read as JSON; a list for several expectations.'),
});

const HeaderExpectation = z.union([
  HeaderValue,
  z.strictObject({ regex: Regex.describe('Regular expression (RE2) that the value must match.') }),
  z.strictObject({ not_regex: Regex.describe('Regular expression (RE2) that no value may match.') }),
  z.strictObject({ absent: z.literal(true).describe('There must be no such header.') }),
]);
export type HeaderExpectation = z.output<typeof HeaderExpectation>;

export const HttpExpectation = z.strictObject({
  status: StatusRanges.optional().describe('Accepted status codes: 204, "200-299" or a list. Default: all below 400.'),
  headers: z
    .record(HeaderName, oneOrMore(HeaderExpectation, mostConditions))
    .default({})
    .describe(
      'Headers of the answer: their exact value, {regex}, {not_regex} or {absent: true}; a list: all of these.',
    ),
  body: BodyExpectation.optional().describe('What the body must say.'),
  latency: Duration({ min: '1ms', max: '60s' }).optional().describe('The longest that the whole request may take.'),
  certificate: z
    .strictObject({ valid_for: Duration({ max: '3650d' }).describe('How long it must still be valid, such as "14d".') })
    .optional()
    .describe('What the certificate must be.'),
  stapled: z
    .literal(true)
    .optional()
    .describe('The server must staple an OCSP response, which says that the certificate is not revoked.'),
});
export type HttpExpectation = z.output<typeof HttpExpectation>;

export const Tls = z.strictObject({
  ca: Pem.optional().describe('Certificates (PEM) to trust instead of the public authorities.'),
  client: z
    .strictObject({ cert: Pem.describe('Certificate chain (PEM).'), key: Pem.describe('Private key (PEM).') })
    .optional()
    .describe('Certificate and key (PEM) to present.'),
  server_name: z.string().min(1).max(253).optional().describe('Name to ask for and to verify instead of the host.'),
  verify: z.boolean().default(true).describe('False: any certificate will do; it is reported all the same.'),
});

export const Spec = z
  .strictObject({
    type: z.literal('http'),
    host: Host(recordedForm).describe('URL, or a host name with or without port; the scheme decides about TLS.'),
    timeout: Duration({ min: '100ms', max: '60s' })
      .default(10_000)
      .describe('The longest that everything together may take, name resolution and redirects included.'),
    method: z.enum(methods).default('GET').describe('Request method.'),
    headers: z
      .record(HeaderName, HeaderValue)
      .default({})
      .describe('Request headers; they override those that the check sets, authorization included.'),
    body: z.string().max(1_048_576).optional().describe('Request body, sent as UTF-8.'),
    basic_auth: z
      .strictObject({
        username: z
          .string()
          .max(1_000)
          .regex(/^[^:]*$/, { error: 'must not contain ":" (RFC 7617)' })
          .describe('User name.'),
        password: z
          .string()
          .max(1_000)
          .describe('Password; in a configuration best given as ${NAME} from the environment.'),
      })
      .optional()
      .describe('User name and password (RFC 7617).'),
    bearer: z
      .string()
      .max(8_000)
      .regex(/^[\w.~+/-]+=*$/, { error: 'expected a bearer token (RFC 6750)' })
      .optional()
      .describe('Bearer token (RFC 6750); wins over basic_auth.'),
    oauth2: OAuth2.optional().describe('Gets the bearer token by client credentials (RFC 6749, 4.4).'),
    proxy: HttpProxy.optional().describe('A proxy to go through: HTTP, by CONNECT for https, or SOCKS 5.'),
    family: ConnectionFamily,
    http2: z.enum(['auto', 'never']).default('auto').describe('Whether HTTP/2 is offered to a TLS server.'),
    redirects: z.int().min(0).max(5).default(0).describe('How many redirects are followed; none by default.'),
    tls: Tls.prefault({}).describe('Certificates and names for https.'),
    max_body: Size({ min: 0, max: 16_777_216 })
      .default(1_048_576)
      .describe('How much of the body is read, counted after decompression if its content is examined.'),
    expect: HttpExpectation.prefault({}).describe('What makes the answer a good one.'),
  })
  .superRefine((spec, context) => {
    const { oauth2, bearer, basic_auth, headers } = spec;
    refuseFamiliesOfAddress(spec, context);
    refuseBothWithProxy(spec, context);
    if (oauth2 === undefined) return;
    const named = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
    if (bearer === undefined && basic_auth === undefined && !named) return;
    const message = 'one of oauth2, bearer, basic_auth and a header "authorization"';
    context.addIssue({ code: 'custom', path: ['oauth2'], message });
  });
export type Spec = z.output<typeof Spec>;

// Interface 2.6: plain http names its port, https stands as it was given. A scheme of another type only lends its port.
function recordedForm(endpoint: Endpoint): string {
  const { scheme, name, port } = endpoint;
  const path = endpoint.path ?? '';
  if (scheme !== 'https') return `http://${formatHostPort(name, portOf(endpoint))}${path}`;
  return `https://${port === null ? formatHost(name) : formatHostPort(name, port)}${path}`;
}

function refineWith(compile: (text: string) => unknown) {
  return (text: string, context: z.RefinementCtx<string>) => {
    try {
      compile(text);
    } catch (error) {
      context.addIssue({ code: 'custom', input: text, message: messageOf(error) });
    }
  };
}

/** The options that name a file. */
export const files = [
  ['oauth2', 'client_secret_file'],
  ['proxy', 'password_file'],
] as const;
