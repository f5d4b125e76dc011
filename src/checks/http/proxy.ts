import { z } from 'zod';
import { FilePath } from '#kernel/files.ts';
import { always, refuseBoth } from '#kernel/refine.ts';
import { Url } from '#kernel/url.ts';

/** A proxy that speaks HTTP, and who is to ask it. */
export const HttpProxy = z
  .strictObject({
    url: Url('expected the address of a proxy, such as "http://proxy.example.com:3128"', {
      protocols: ['http:'],
      bare: true,
    }).describe('Its address, such as "http://proxy.example.com:3128".'),
    username: z
      .string()
      .max(1_000)
      .regex(/^[^:]*$/, { error: 'must not contain ":" (RFC 7617)' })
      .optional()
      .describe('User name (RFC 7617).'),
    password: z.string().max(1_000).optional().describe('Password; best given as ${NAME} from the environment.'),
    password_file: FilePath.optional().describe('A file that holds the password, instead of it.'),
  })
  .superRefine((entry, context) => {
    const { username, password, password_file } = entry;
    const say = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    refuseBoth(entry, 'password', 'password_file', context);
    const hasPassword = password !== undefined || password_file !== undefined;
    if (hasPassword && username === undefined) say('username', 'is missing: there is a password');
    if (!hasPassword && username !== undefined) say('password', 'is missing: there is a username');
  }, always);
export type HttpProxy = z.output<typeof HttpProxy>;
