import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { checkOf, type CheckSpec, interfaceTypeNames } from '#checks/index.ts';
import { FilePath } from '#kernel/file-path.ts';
import { always, refuseBoth } from '#kernel/refine.ts';
import { Secret } from '#kernel/secret.ts';
import { Rate } from '#kernel/unit-schemas.ts';
import { BareWebUrl } from '#kernel/url.ts';
import { find, type SourceNode, problemAt } from '../read/located.ts';
import { alternatives } from '#kernel/wording.ts';
import type { Problem } from '../read/problem.ts';

/** The form of `service` if another check service runs the checks. */
export const ForeignService = z
  .strictObject({
    url: BareWebUrl('expected the address of a check service, such as "https://check.example.com"').describe(
      'The base URL of a check service that speaks the same API.',
    ),
    token: z.string().min(1).max(1_000).optional().describe('The token for it; better ${ENV} than the text itself.'),
    token_file: FilePath.optional().describe('A file that holds the token.'),
    budget: Rate()
      .default({ count: 60, perMs: 60_000 })
      .describe('How many checks are started at the most; one on several nodes counts once.'),
  })
  .superRefine((service, context) => refuseBoth(service, 'token', 'token_file', context), always);
export type ForeignService = z.output<typeof ForeignService>;

export interface ConfiguredService {
  /** Without a slash at its end. */
  readonly url: string;
  readonly token: Secret | null;
  /** How many checks may be started in any time of this length. */
  readonly budget: { readonly count: number; readonly perMs: number };
}

/** Which of the two forms of `service` was written. */
export function isForeign(service: object | undefined): service is ForeignService {
  return service !== undefined && 'url' in service;
}

export function resolveForeignService({ url, token, budget }: ForeignService, filed: Secret | null): ConfiguredService {
  return { url: url.replace(/\/+$/, ''), token: token === undefined ? filed : new Secret(token), budget };
}

/** Whether the file hands its checks to another service, right or wrong. */
export function asksForeignService(root: SourceNode): boolean {
  return find(root, ['service', 'url']) !== null;
}

/** What cannot stand beside `service.url`. */
export function foreignServiceProblems(root: SourceNode): readonly Problem[] {
  if (!asksForeignService(root)) return [];
  const has = (section: string) => (find(root, [section])?.value ?? undefined) !== undefined;
  return [
    ...(has('nodes')
      ? [problemAt(root, ['nodes'], 'is not used with service.url: the nodes are those of that service')]
      : []),
    ...(has('targets') ? [] : [problemAt(root, ['targets'], 'is missing: service.url is of use only with targets')]),
  ];
}

/** A problem for each option of a target that the other service's interface cannot express. */
export function inexpressibleProblems(
  target: { readonly name: string; readonly spec: CheckSpec },
  root: SourceNode,
): readonly Problem[] {
  if (checkOf(target.spec.type).row === null) {
    const known = `${orOwnNodes}, or use ${alternatives(interfaceTypeNames)}`;
    return [problemAt(root, ['targets', target.name, 'check'], `${notThere}: ${known}`)];
  }
  const message = `${notThere}, whose API takes the check type and the host only: leave it out, or ${orOwnNodes}`;
  // A default timeout is ours alone: by then we wait no longer for the service.
  const isOurs = find(root, ['targets', target.name, 'timeout']) === null;
  const options = inexpressibleOptions(target.spec).filter((option) => option !== 'timeout' || !isOurs);
  return options.map((option) => problemAt(root, ['targets', target.name, option], message));
}

const notThere = 'is more than the check service at service.url can do';
const orOwnNodes = 'take out service, since nodes of your own can do it';

/** The options of a spec that the interface has no word for: all that differ from their defaults. */
export function inexpressibleOptions(spec: CheckSpec): readonly string[] {
  const plain: Readonly<Record<string, unknown>> = checkOf(spec.type).Spec.parse({ type: spec.type, host: spec.host });
  return Object.entries(spec)
    .filter(([option, value]) => !isDeepStrictEqual(value, plain[option]))
    .map(([option]) => option);
}
