import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { formatHostPort, parseEndpoint } from '#checks/index.ts';
import { sha256 } from '#kernel/hash.ts';
import type { EnvironmentVariables } from '../read/environment.ts';
import type { Cluster } from './kubernetes-groups.ts';
import type { TargetList } from './listed-targets.ts';
import { type SourceNode, problemAt } from '../read/located.ts';
import type { Problem } from '../read/problem.ts';
import { explainSystemError, type FileListener } from '../read/source.ts';
import { kubernetesKinds, TargetSource } from '../shape/targets-from.ts';

export interface ListParts {
  readonly folder: string;
  /** The database, beside which lists are kept. */
  readonly data: string;
  /** Called with each file that is read. */
  readonly onFile: FileListener;
  readonly problems: Problem[];
  readonly env: EnvironmentVariables;
}

/** The list of targets that an entry of `targets_from` names by `url`, `srv`, `docker` or `kubernetes`, or null if it names none, or not as it should. */
export async function listAt(
  root: SourceNode,
  name: string,
  entry: SourceNode,
  parts: ListParts,
): Promise<TargetList | null> {
  const source = TargetSource.safeParse(entry.value).data;
  if (source === undefined) return null;
  const { ask } = source;
  const keptAs = (address: string) =>
    join(dirname(parts.data), 'targets', `${name}-${sha256(address).slice(0, 8)}.json`);
  if (source.srv !== undefined) {
    const server = ask.server === undefined ? null : serverOf(ask.server);
    const shown = `SRV ${source.srv}${server === null ? '' : ` at ${server}`}`;
    return {
      name,
      source: { kind: 'srv', name: source.srv, server },
      shown,
      everyMs: ask.every,
      keptIn: keptAs(shown),
    };
  }
  if (source.docker !== undefined) {
    const socket = resolve(parts.folder, source.docker);
    const shown = `containers at ${socket}`;
    return { name, source: { kind: 'docker', socket }, shown, everyMs: ask.every, keptIn: keptAs(shown) };
  }
  if (source.kubernetes !== undefined) {
    const cluster = clusterOf(source.kubernetes, ask, parts);
    const shown = `Kubernetes${cluster.url === null ? '' : ` at ${cluster.url}`}`;
    const keptIn = keptAs(JSON.stringify([shown, cluster.kinds, cluster.namespaces]));
    return { name, source: cluster, shown, everyMs: ask.every, keptIn };
  }
  if (source.url === undefined) return null;
  const url = source.url.reveal();
  const token = await fileAt(root, [name, 'token_file'], ask.token_file, parts);
  const ca = await fileAt(root, [name, 'ca_file'], ask.ca_file, parts);
  if (token === false || ca === false) return null;
  const { protocol, host, pathname } = new URL(url);
  const own = Object.entries(ask.headers).map(([header, value]) => [header.toLowerCase(), value.reveal()]);
  return {
    name,
    source: {
      kind: 'http',
      url,
      headers: { ...Object.fromEntries(own), ...(token === null ? {} : { authorization: `Bearer ${token.trim()}` }) },
      ca,
    },
    shown: `${protocol}//${host}${entry.children.get('url')?.expanded === true ? '/...' : pathname}`,
    everyMs: ask.every,
    keptIn: keptAs(url),
  };
}

const serviceAccount = '/var/run/secrets/kubernetes.io/serviceaccount';

// In a pod, the API server and the service account are where every client looks for them.
function clusterOf(
  { url, kinds, namespaces }: NonNullable<TargetSource['kubernetes']>,
  ask: TargetSource['ask'],
  { folder, env }: ListParts,
): Cluster {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = env;
  const inPod = host === undefined ? null : `https://${formatHostPort(host, Number(port))}`;
  const fileOf = (written: string | undefined, own: string) =>
    written === undefined ? (url === undefined ? `${serviceAccount}/${own}` : null) : resolve(folder, written);
  return {
    kind: 'kubernetes',
    url: url === undefined ? inPod : url.replace(/\/+$/, ''),
    tokenFile: fileOf(ask.token_file, 'token'),
    caFile: fileOf(ask.ca_file, 'ca.crt'),
    kinds: kinds === undefined ? null : kubernetesKinds.filter((kind) => kinds.includes(kind)),
    namespaces: namespaces ?? null,
  };
}

function serverOf(written: string): string {
  const parsed = parseEndpoint(written);
  if (!parsed.ok) throw new RangeError(`the name server ${written} ${parsed.message}`);
  return formatHostPort(parsed.name, parsed.port ?? 53);
}

/** What a file holds; null if none is named, false if it cannot be read. */
async function fileAt(
  root: SourceNode,
  [name, key]: readonly [string, string],
  written: string | undefined,
  { folder, onFile, problems }: ListParts,
): Promise<string | null | false> {
  if (written === undefined) return null;
  const file = resolve(folder, written);
  await onFile(file);
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const message = `cannot read ${file}: ${explainSystemError(error)}`;
    problems.push(problemAt(root, ['targets_from', name, 'ask', key], message));
    return false;
  }
}
