import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { type Clock, type Deadline, deadline } from '#kernel/clock.ts';
import { parseJson } from '#kernel/json.ts';
import { singleLine } from '#kernel/text.ts';
import { explainSystemError } from '../read/source.ts';
import { type KubernetesKind, kubernetesKinds } from '../shape/targets-from.ts';
import { idOf, isAnnotated, type ListPosition, watchCluster } from './cluster-watch.ts';
import { getText } from './get-text.ts';
import { groupOf, hostLabel, hostsIn } from './label-groups.ts';
import type { WatchList } from './watch-list.ts';

/** What can name targets: its API group and its plural there. */
const kinds: Readonly<
  Record<KubernetesKind, { readonly kind: string; readonly group: string; readonly plural: string }>
> = {
  ingress: { kind: 'Ingress', group: 'networking.k8s.io', plural: 'ingresses' },
  httproute: { kind: 'HTTPRoute', group: 'gateway.networking.k8s.io', plural: 'httproutes' },
  gateway: { kind: 'Gateway', group: 'gateway.networking.k8s.io', plural: 'gateways' },
  service: { kind: 'Service', group: '', plural: 'services' },
};

/** A cluster whose objects have annotations that name targets. */
export interface Cluster {
  readonly kind: 'kubernetes';
  /** Of the API server, without a slash at the end; null outside a cluster. */
  readonly url: string | null;
  /** Read with every request, since the tokens of service accounts are renewed in place; null to send none. */
  readonly tokenFile: string | null;
  readonly caFile: string | null;
  /** Null for all; of the Gateway API, which not every cluster has, what there is. */
  readonly kinds: readonly KubernetesKind[] | null;
  /** Null for all. */
  readonly namespaces: readonly string[] | null;
}

type ClusterGroups = { readonly text: string; readonly watch?: WatchList } | { readonly trouble: string };

// Pages of a list in which something is to be read (Kubernetes API concepts, "Retrieving large results sets in chunks").
const pageSize = 250;
const mostPages = 200;
const mostPageBytes = 16 * 1_048_576;
const mostGroupBytes = 8 * 1_048_576;
const mostWatches = 20;

const Page = z.object({
  metadata: z.object({ continue: z.string().optional(), resourceVersion: z.string().default('') }).prefault({}),
  items: z
    .array(
      z.object({
        metadata: z.object({
          name: z.string(),
          namespace: z.string().default(''),
          annotations: z.record(z.string(), z.string()).nullish(),
        }),
        spec: z.unknown().optional(),
      }),
    )
    .nullable(),
});
type KubernetesObject = NonNullable<z.output<typeof Page>['items']>[number];

// Of the specs, what has host names: Ingress, HTTPRoute, Gateway.
const HostNames = z
  .object({
    rules: z.array(z.object({ host: z.string().optional() })).catch([]),
    hostnames: z.array(z.string()).catch([]),
    listeners: z.array(z.object({ hostname: z.string().optional() })).catch([]),
  })
  .catch({ rules: [], hostnames: [], listeners: [] });

interface Access {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly ca: string | null;
  readonly limit: Deadline;
  readonly limitMs: number;
}

/** A list of one kind, in one namespace or in all. */
interface ListQuery {
  readonly kind: KubernetesKind;
  readonly namespace: string | null;
}

class ClusterTrouble extends Error {}

/** The objects with the annotation `watchpost.host` as the groups of `http_sd`, one on each line, sorted. They can be watched for a change, unless there are too many lists. */
export async function askCluster(
  cluster: Cluster,
  clock: Clock,
  limitMs: number,
  signal: AbortSignal,
): Promise<ClusterGroups> {
  const { url, tokenFile, caFile, namespaces } = cluster;
  if (url === null) return { trouble: 'KUBERNETES_SERVICE_HOST is not set, as it is in pods: set url' };
  using limit = deadline(clock, limitMs, signal);
  try {
    const token = tokenFile === null ? null : (await readText(tokenFile)).trim();
    const ca = caFile === null ? null : await readText(caFile);
    const headers = token === null ? {} : { authorization: `Bearer ${token}` };
    const access: Access = { url, headers, ca, limit, limitMs };
    const groups: string[] = [];
    const positions: ListPosition[] = [];
    for (const kind of cluster.kinds ?? kubernetesKinds) {
      for (const namespace of namespaces ?? [null]) {
        const isOptional = cluster.kinds === null && kinds[kind].group === 'gateway.networking.k8s.io';
        const listed = await listAll({ kind, namespace }, isOptional, access, signal);
        if (listed === null) continue;
        groups.push(...listed.groups);
        positions.push(listed.position);
      }
    }
    const text = `[${groups.toSorted().join(',\n')}]`;
    if (positions.length === 0 || positions.length > mostWatches || positions.some(({ version }) => version === ''))
      return { text };
    return { text, watch: async (outer) => watchCluster(positions, { headers, ca, clock }, outer) };
  } catch (error) {
    if (!(error instanceof ClusterTrouble)) throw error;
    return { trouble: singleLine(error.message, 400) };
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new ClusterTrouble(`cannot read ${path}: ${explainSystemError(error)}`, { cause: error });
  }
}

interface ListedObjects {
  readonly groups: readonly string[];
  readonly position: ListPosition;
}

/** All groups of a list, page by page. A list whose next page has expired (410) is begun again, once. Null if the API has no such list. */
async function listAll(
  query: ListQuery,
  isOptional: boolean,
  access: Access,
  signal: AbortSignal,
): Promise<ListedObjects | null> {
  let restarts = 0;
  let groups: string[] = [];
  const annotated = new Set<string>();
  let next = '';
  for (let page = 0; page < mostPages; page += 1) {
    const { status, text } = await getPage(query, next, access, signal);
    if (status === 404 && isOptional) return null;
    if (status === 410 && next !== '' && restarts === 0) {
      restarts += 1;
      [groups, next] = [[], ''];
      continue;
    }
    if (status !== 200) throw new ClusterTrouble(refusalOf(query, status, text));
    const parsed = Page.safeParse(parseJson(text)).data;
    if (parsed === undefined) throw new ClusterTrouble(`its answer to ${pathOf(query)} is no list of Kubernetes' API`);
    for (const item of parsed.items ?? []) {
      groups.push(...groupsOf(query.kind, item));
      if (isAnnotated(item.metadata)) annotated.add(idOf(item.metadata));
    }
    if (groups.reduce((sum, { length }) => sum + length, 0) > mostGroupBytes)
      throw new ClusterTrouble(`its ${kinds[query.kind].plural} name more than ${mostGroupBytes} bytes of targets`);
    next = parsed.metadata.continue ?? '';
    const url = `${access.url}${pathOf(query)}`;
    if (next === '') return { groups, position: { url, version: parsed.metadata.resourceVersion, annotated } };
  }
  throw new ClusterTrouble(`there are more than ${mostPages * pageSize} ${kinds[query.kind].plural}: name namespaces`);
}

async function getPage(
  query: ListQuery,
  next: string,
  { url, headers, ca, limit, limitMs }: Access,
  signal: AbortSignal,
): Promise<{ readonly status: number | null; readonly text: string }> {
  const page = new URLSearchParams({ limit: String(pageSize), ...(next === '' ? {} : { continue: next }) });
  const options = { headers, ca, limit, limitMs, mostBytes: mostPageBytes };
  const answer = await getText(`${url}${pathOf(query)}?${page.toString()}`, options, signal);
  if ('trouble' in answer) throw new ClusterTrouble(answer.trouble);
  return answer;
}

function pathOf({ kind, namespace }: ListQuery): string {
  const { group, plural } = kinds[kind];
  const root = group === '' ? '/api/v1' : `/apis/${group}/v1`;
  return `${root}/${namespace === null ? '' : `namespaces/${namespace}/`}${plural}`;
}

const Status = z.object({ message: z.string() });

/** Why a list was refused, and for want of which rule. */
function refusalOf(query: ListQuery, status: number | null, text: string): string {
  const { group, plural } = kinds[query.kind];
  const said = Status.safeParse(parseJson(text)).data?.message ?? '';
  const because = said === '' ? '' : `: ${said}`;
  if (status === 401) return `the API server does not accept the token (401)${because}`;
  if (status === 403) {
    const role = query.namespace === null ? 'a ClusterRole' : `a Role in ${query.namespace}`;
    return `it may not list ${plural} (403): bind ${role} with the rule { apiGroups: ["${group}"], resources: [${plural}], verbs: [list, watch] }`;
  }
  if (status === 404) return `the API server has no ${pathOf(query)} (404)`;
  return `the API server answered ${pathOf(query)} with status ${status ?? 'none'}${because}`;
}

function groupsOf(kind: KubernetesKind, { metadata, spec }: KubernetesObject): string[] {
  const { name, namespace, annotations } = metadata;
  const written = annotations?.[hostLabel];
  if (written === undefined || annotations === undefined || annotations === null) return [];
  const hosts = kind === 'service' ? [`${name}.${namespace}.svc`] : hostNamesIn(spec);
  const targets = hostsIn(written.replaceAll('{name}', name).replaceAll('{namespace}', namespace)).flatMap((one) =>
    one.includes('{host}') ? hosts.map((host) => one.replaceAll('{host}', host)) : [one],
  );
  return groupOf([...new Set(targets)], annotations, { kind: kinds[kind].kind, namespace, name });
}

// A name with a wildcard is no host that can be asked.
function hostNamesIn(spec: unknown): string[] {
  const { rules, hostnames, listeners } = HostNames.parse(spec);
  const all = [...rules.map(({ host }) => host), ...hostnames, ...listeners.map(({ hostname }) => hostname)];
  return all.filter((host) => host !== undefined).filter((host) => host !== '' && !host.includes('*'));
}
