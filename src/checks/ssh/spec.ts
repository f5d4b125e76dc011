import { z } from 'zod';
import { FilePath } from '#kernel/file-path.ts';
import { always, refuseBoth } from '#kernel/refine.ts';
import { Duration } from '#kernel/unit-schemas.ts';
import { ServerHost, serverOptions, ValueExpectation } from '../database/options.ts';
import type { ServerPorts } from '../database/ports.ts';
import { oneOrMore } from '../one-or-more.ts';

const ports: ServerPorts = { plain: 22, scheme: 'ssh', secure: null };

const Fingerprint = z.string().regex(/^SHA256:[A-Za-z0-9+/]{43}$/, {
  error: 'expected "SHA256:" and 43 characters, as "ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub" prints it',
});

const PrivateKey = z
  .string()
  .max(100_000)
  .superRefine((text, context) => {
    const fault = faultOfKey(text);
    if (fault !== null) context.addIssue({ code: 'custom', message: fault });
  });

// The cipher stands in front (OpenSSH's PROTOCOL.key), and in older files in a header (RFC 1421).
function faultOfKey(text: string): string | null {
  const body = /-----BEGIN OPENSSH PRIVATE KEY-----([^-]*)-----END/.exec(text)?.[1];
  const isEncrypted =
    body === undefined
      ? /ENCRYPTED/.test(text)
      : !Buffer.from(body, 'base64').subarray(15).toString('latin1').startsWith('\0\0\0\x04none');
  if (!/-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----/.test(text) && !isEncrypted)
    return 'expected a private key, such as "ssh-keygen -t ed25519" writes';
  return isEncrypted ? 'is encrypted with a passphrase: use a key without one, made for this check alone' : null;
}

const Command = z
  .string()
  .min(1)
  .max(1_000)
  .regex(/^\P{Cc}+$/u, { error: 'must not contain control characters' });

export const Spec = z
  .strictObject({
    type: z.literal('ssh'),
    host: ServerHost(ports),
    timeout: Duration({ min: '100ms', max: '60s' })
      .default(10_000)
      .describe('For everything together: name, connection, key exchange, login, command.'),
    family: serverOptions.family,
    host_key: oneOrMore(Fingerprint, 10)
      .optional()
      .describe('The SHA-256 fingerprint of the host key, "SHA256:..."; of several any one. Default: any key.'),
    username: serverOptions.username.describe('Who logs in. Default: no login.'),
    key: PrivateKey.optional().describe('The private key of that user, without a passphrase.'),
    key_file: FilePath.optional().describe('A file that holds the private key, instead of it.'),
    command: Command.optional().describe('A command to run after the login. Its value is what it prints.'),
    expect: ValueExpectation.extend({
      exit: z.int().min(0).max(255).default(0).describe('The exit code of the command.'),
    })
      .prefault({})
      .describe('What the command must give.'),
  })
  .superRefine((spec, context) => {
    const { username, key, key_file, command, expect } = spec;
    const hasKey = key !== undefined || key_file !== undefined;
    const wrong = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    refuseBoth(spec, 'key', 'key_file', context);
    if (username === undefined && hasKey) wrong('username', 'is missing: a key is given');
    if (username !== undefined && !hasKey) wrong('key_file', 'is missing: a username is given');
    if (command !== undefined && username === undefined) wrong('username', 'is missing: a command is given');
    const { exit, latency: _, ...value } = expect ?? {};
    if (command === undefined && (Object.keys(value).length > 0 || exit !== 0))
      wrong('command', 'is missing: something is expected of it');
  }, always);
export type Spec = z.output<typeof Spec>;
