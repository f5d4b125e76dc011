import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { checkOf, type CheckSpec } from '#checks/index.ts';
import { Secret } from '#kernel/secret.ts';
import { find, type Located, problemAt } from './located.ts';
import type { Problem } from './problem.ts';

const urlHint = 'expected the address of a check service, such as "https://check.example.com"';
const rateHint = 'expected a number of checks a minute, such as "60/min"';

const PerMinute = z.codec(z.string({ error: rateHint }).regex(/^\d{1,5}\/min$/, { error: rateHint }), z.number(), {
  decode(text, context) {
    const count = Number(text.slice(0, -4));
    if (count > 0) return count;
    context.issues.push({ code: 'custom', input: text, message: 'must be at least 1/min' });
    return z.NEVER;
  },
  encode: (count) => `${count}/min`,
});

/** The form of `service` where somebody else's check service runs the checks. */
export const ForeignService = z
  .strictObject({
    url: z
      .string({ error: urlHint })
      .max(2_000)
      .refine(isServiceUrl, { error: urlHint })
      .describe('The base URL of a check service that speaks the same API.'),
    token: z.string().min(1).max(1_000).optional().describe('The token for it; better ${ENV} than the text itself.'),
    token_file: z.string().min(1).max(4_096).optional().describe('A file that holds the token.'),
    budget: PerMinute.default(60).describe(
      'How many checks are started a minute at the most; one on several nodes counts once.',
    ),
  })
  .refine(({ token, token_file }) => token === undefined || token_file === undefined, {
    path: ['token_file'],
    error: 'is one too many: token is set',
    when: ({ value }) => typeof value === 'object' && value !== null,
  });
export type ForeignService = z.output<typeof ForeignService>;

export interface ConfiguredService {
  /** Without a slash at its end. */
  readonly url: string;
  readonly token: Secret | null;
  /** Checks to start in any 60 seconds. */
  readonly budget: number;
}

export function resolveService({ url, token, budget }: ForeignService, filed: Secret | null): ConfiguredService {
  return { url: url.replace(/\/+$/, ''), token: token === undefined ? filed : new Secret(token), budget };
}

/** Whether the file hands its checks to another service, right or wrong. */
export function asksForeignService(root: Located): boolean {
  return find(root, ['service', 'url']) !== null;
}

/** What cannot stand beside `service.url`. */
export function foreignServiceProblems(root: Located): readonly Problem[] {
  if (!asksForeignService(root) || find(root, ['nodes']) === null) return [];
  return [problemAt(root, ['nodes'], 'has no use beside service.url: the nodes are those of that service')];
}

/** A problem for each option of a target that somebody else's service cannot be told. */
export function inexpressibleProblems(
  target: { readonly name: string; readonly spec: CheckSpec },
  root: Located,
): readonly Problem[] {
  const message = 'cannot be asked of the check service at service.url: its API takes the check type and the host only';
  return inexpressibleOptions(target.spec).map((option) => problemAt(root, ['targets', target.name, option], message));
}

/** The options of a spec that the interface has no word for: all that differ from their defaults. */
export function inexpressibleOptions(spec: CheckSpec): readonly string[] {
  const plain: Readonly<Record<string, unknown>> = checkOf(spec.type).Spec.parse({ type: spec.type, host: spec.host });
  return Object.entries(spec)
    .filter(([option, value]) => !isDeepStrictEqual(value, plain[option]))
    .map(([option]) => option);
}

function isServiceUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.hostname === '') return false;
  return url.username === '' && url.password === '' && url.search === '' && url.hash === '';
}
