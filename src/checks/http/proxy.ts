import { z } from 'zod';
import { FilePath } from '#kernel/file-path.ts';
import { always, refuseBoth } from '#kernel/refine.ts';
import { Pem } from './pem.ts';
import { Url } from '#kernel/url.ts';

/** A proxy that speaks HTTP, with TLS or without, or SOCKS 5, and who is to ask it. */
export const HttpProxy = z
  .strictObject({
    url: Url('expected the address of a proxy, such as "http://proxy.example.com:3128" or "socks5h://127.0.0.1:1080"', {
      protocols: ['http:', 'https:', 'socks5:', 'socks5h:'],
      bare: true,
    }).describe(
      'Its address, such as "http://proxy.example.com:3128", "https://proxy.example.com", "socks5://127.0.0.1:1080" (the node resolves the name of the target) or "socks5h://127.0.0.1:1080" (the proxy does).',
    ),
    ca: Pem.optional().describe('Certificates (PEM) to trust at an https proxy instead of the public authorities.'),
    username: z
      .string()
      .max(1_000)
      .regex(/^[^:]*$/, { error: 'must not contain ":" (RFC 7617)' })
      .optional()
      .describe('User name (RFC 7617; for SOCKS RFC 1929).'),
    password: z
      .string()
      .max(1_000)
      .optional()
      .describe('Password; in a configuration best given as ${NAME} from the environment.'),
    password_file: FilePath.optional().describe('A file that holds the password, instead of it.'),
  })
  .superRefine((entry, context) => {
    const { username, password, password_file } = entry;
    const say = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    refuseBoth(entry, 'password', 'password_file', context);
    const hasPassword = password !== undefined || password_file !== undefined;
    if (hasPassword && username === undefined) say('username', 'is missing: there is a password');
    if (!hasPassword && username !== undefined) say('password', 'is missing: there is a username');
    // A refinement sees also what is no address.
    const written: unknown = entry.url;
    const url = typeof written === 'string' ? written.toLowerCase() : '';
    if (entry.ca !== undefined && !url.startsWith('https:')) say('ca', 'is for a proxy at https://');
    if (!url.startsWith('socks')) return;
    for (const [key, text] of [
      ['username', username],
      ['password', password],
    ] as const) {
      if (typeof text === 'string' && (text === '' || Buffer.byteLength(text) > 255))
        say(key, 'must have 1 to 255 bytes for SOCKS (RFC 1929)');
    }
  }, always);
export type HttpProxy = z.output<typeof HttpProxy>;
