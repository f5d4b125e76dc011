import { z } from 'zod';
import { FilePath } from '#kernel/file-path.ts';
import { always, refuseBoth } from '#kernel/refine.ts';
import { Duration } from '#kernel/unit-schemas.ts';
import { WebUrl } from '#kernel/url.ts';
import { Pem } from './pem.ts';

// RFC 6749, appendix A: visible ASCII and spaces.
const Credential = z
  .string()
  .min(1)
  .max(2_000)
  .regex(/^[\x20-\x7e]+$/, { error: 'must not contain control characters or characters beyond ASCII' });

/** How tokens are asked for by client credentials (RFC 6749, section 4.4). */
export const OAuth2 = z
  .strictObject({
    token_url: WebUrl('expected an address such as "https://login.example.com/oauth2/token"').describe(
      'The token endpoint.',
    ),
    client_id: Credential.describe('The id of the client.'),
    client_secret: Credential.optional().describe(
      'Its secret; in a configuration best given as ${NAME} from the environment.',
    ),
    client_secret_file: FilePath.optional().describe('A file that holds the secret, instead of it.'),
    scopes: z
      .array(
        z
          .string()
          .max(500)
          .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, { error: 'expected a scope (RFC 6749, 3.3)' }),
      )
      .max(50)
      .default([])
      .describe('The scopes that are asked for.'),
    audience: z
      .string()
      .min(1)
      .max(2_000)
      .optional()
      .describe('The audience of the token, if the endpoint requires one.'),
    auth: z
      .enum(['basic', 'body'])
      .default('basic')
      .describe('How id and secret are sent: in a header, or in the body (RFC 6749, 2.3.1).'),
    ca: Pem.optional().describe('Certificates (PEM) to trust at the endpoint instead of the public authorities.'),
    timeout: Duration({ min: '100ms', max: '60s' })
      .default(5_000)
      .describe('The longest that asking for a token may take, before the timeout of the check begins.'),
  })
  .superRefine((client, context) => {
    if (client.client_secret === undefined && client.client_secret_file === undefined) {
      const message = 'is missing: give it, or client_secret_file';
      context.addIssue({ code: 'custom', path: ['client_secret'], message });
    }
    refuseBoth(client, 'client_secret', 'client_secret_file', context);
  }, always);
export type OAuth2 = z.output<typeof OAuth2>;
