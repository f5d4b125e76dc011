import { z } from 'zod';
import { FilePath } from '#kernel/file-path.ts';
import { always, refuseBoth } from '#kernel/refine.ts';
import { Rate } from '#kernel/unit-schemas.ts';

const nameHint = 'expected the name of a token: letters, digits, "-", "_" and "."';
const hashHint = 'expected the SHA-256 of the token in 64 hexadecimal digits: printf %s "$TOKEN" | sha256sum';

export const tokenHash = /^[0-9a-f]{64}$/i;

const Token = z
  .strictObject({
    name: z
      .string()
      .regex(/^[\w.-]{1,63}$/, { error: nameHint })
      .describe('What the token is called in logs; its allowance is its own.'),
    hash: z
      .string({ error: hashHint })
      .regex(tokenHash, { error: hashHint })
      .optional()
      .describe('The SHA-256 of the token in hexadecimal digits.'),
    hash_file: FilePath.optional().describe('A file that begins with this hash.'),
  })
  .superRefine((token, context) => {
    if (token.hash === undefined && token.hash_file === undefined)
      context.addIssue({ code: 'custom', path: ['hash'], message: `is missing: ${hashHint}` });
    refuseBoth(token, 'hash', 'hash_file', context);
  }, always);

const perHour = (count: number) => ({ count, perMs: 3_600_000 });
const perMinute = (count: number) => ({ count, perMs: 60_000 });

const Limits = z.strictObject({
  max_nodes: z.int().min(1).max(1_000).default(50).describe('The most nodes for one check, whatever is asked for.'),
  per_client: Rate()
    .default(perMinute(60))
    .describe('For each client: an IPv4 address, an IPv6 network of 64 bits, or a token. A check costs one per node.'),
  per_target: Rate()
    .default(perMinute(60))
    .describe(
      'For each host name, registered domain, IPv4 address and IPv6 network of 64 bits that is checked, by all clients together.',
    ),
  per_node: Rate().default(perMinute(600)).describe('For each node.'),
  overall: Rate().default(perMinute(6_000)).describe('For all checks together.'),
  domain_per_client: Rate()
    .default(perHour(20))
    .describe('For `domain` checks of each client without a token from another machine, besides the others.'),
  domain_per_node: Rate()
    .default(perHour(60))
    .describe('For `domain` checks of all these clients on each node: registries limit their callers.'),
});

const Domain = z.string().regex(/^(?=.{1,200}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/, {
  error: 'expected a domain in lower-case letters, such as "watchpost.internal"',
});

const originHint = 'expected an origin without a path, such as "https://example.com", or "*"';
const Origin = z
  .string({ error: originHint })
  .regex(/^(?:\*|https?:\/\/(?:[a-z0-9_.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?)$/i, { error: originHint })
  .toLowerCase();

/** The form of `service` if this process serves the check API itself. */
export const OwnService = z.strictObject({
  node_domain: Domain.default('watchpost.internal').describe(
    'The last part of node identifiers: the node de1 is de1.node.watchpost.internal. It need not exist in the DNS.',
  ),
  open: z
    .boolean()
    .default(false)
    .describe(
      'Whether anyone may start checks. Otherwise: callers on this machine, or with a token if there are tokens.',
    ),
  allow_private: z
    .union([z.boolean(), z.literal('loopback')], { error: 'expected true, false or loopback' })
    .default('loopback')
    .describe(
      'Whether checks started over the API may reach private addresses: false, true, or loopback for callers on this machine.',
    ),
  tokens: z
    .array(Token)
    .max(1_000)
    .refine((tokens) => new Set(tokens.map(({ name }) => name)).size === tokens.length, {
      error: 'two tokens have the same name',
    })
    .default([])
    .describe('Who may start checks: each sends its token as "Authorization: Bearer <token>".'),
  limits: Limits.prefault({}).describe('How many checks may be started.'),
  cors: z
    .array(Origin)
    .max(100)
    .default([])
    .describe(
      'Origins whose pages may start checks and read answers (CORS), such as "https://example.com", or "*" for all.',
    ),
  compat: z
    .literal('check-host.net', { error: 'expected check-host.net' })
    .optional()
    .describe('Answer as that service does if it differs from the interface. Default: as the interface says.'),
});
export type OwnService = z.output<typeof OwnService>;

/** What the check API works by. Hashes that stand in files are read by then. */
export interface ConfiguredOwnService {
  readonly nodeDomain: string;
  readonly open: boolean;
  readonly allowPrivate: boolean | 'loopback';
  /** SHA-256 in hexadecimal digits. */
  readonly tokens: readonly { readonly name: string; readonly hash: string }[];
  /** Lower case. */
  readonly cors: readonly string[];
  readonly limits: OwnService['limits'];
  readonly compatible: boolean;
}

export function resolveOwnService(service: OwnService, hashes: ReadonlyMap<string, string>): ConfiguredOwnService {
  return {
    nodeDomain: service.node_domain,
    open: service.open,
    allowPrivate: service.allow_private,
    tokens: service.tokens.map(({ name, hash, hash_file }) => ({
      name,
      hash: hash ?? hashes.get(hash_file ?? '') ?? '',
    })),
    cors: service.cors,
    limits: service.limits,
    compatible: service.compat === 'check-host.net',
  };
}
