import { readFile, stat } from 'node:fs/promises';
import { z } from 'zod';
import type { NodeInfo } from '#checks/index.ts';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import { unlessMissing } from '#kernel/files.ts';
import { Name, NodeName, placeKeys } from './sections.ts';
import { explainSystemError } from '../read/source.ts';

const EnrolledNode = z.strictObject({
  /** The public nkey: the seed is with the node alone. */
  key: z.string().regex(/^U[A-Z2-7]{55}$/, { error: 'expected a public nkey' }),
  ...placeKeys,
  enrolled_at: z.iso.datetime(),
});
export type EnrolledNode = z.output<typeof EnrolledNode>;

const EnrolledHub = EnrolledNode.pick({ key: true, enrolled_at: true });

const EnrolledNodes = z.strictObject({
  nodes: z.record(NodeName, EnrolledNode),
  /** Hubs that have keys of their own. */
  hubs: z.record(Name, EnrolledHub).optional(),
  /** The key that hubs share; absent if that is what the seed file says, or if there is none. */
  shared_hub_key: EnrolledNode.shape.key.optional(),
});
/** What the list says. */
export type EnrolmentList = z.output<typeof EnrolledNodes>;

/** The enrolled nodes by name. */
export type NodeEnrolments = Readonly<Record<string, EnrolledNode>>;

/** Reads the list of enrolled nodes; a file that is not there is an empty one. Rejects with `config_invalid`. */
export async function readEnrolled(path: string): Promise<NodeEnrolments> {
  return (await readEnrolmentList(path)).nodes;
}

/** The same with the keys of hubs. */
export async function readEnrolmentList(path: string): Promise<EnrolmentList> {
  const fail = (reason: string, cause: unknown) =>
    new WatchpostError('config_invalid', `${path}: ${reason}; restore a good copy`, { cause });
  try {
    const text = await unlessMissing(readFile(path, 'utf8'));
    return text === null ? { nodes: {} } : EnrolledNodes.parse(JSON.parse(text));
  } catch (error) {
    if (error instanceof z.ZodError) {
      const [issue] = error.issues;
      throw fail(`${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is wrong'}`, error);
    }
    throw fail(error instanceof SyntaxError ? messageOf(error) : explainSystemError(error), error);
  }
}

/** A reader that gives null if the file is the same as at the last call. */
export function watchEnrolled(path: string): () => Promise<readonly NodeInfo[] | null> {
  let last: string | null = null;
  return async () => {
    const now = await versionOf(path);
    if (now === last) return null;
    const infos = infosOf(await readEnrolled(path));
    last = now;
    return infos;
  };
}

export function infosOf(nodes: NodeEnrolments): readonly NodeInfo[] {
  return Object.entries(nodes).map(([name, { location, asn, ip }]) => {
    const [countryCode, country, city] = location ?? ['', '', ''];
    return { name, countryCode, country, city, asn: asn ?? '', ip: ip ?? '' };
  });
}

/** What the list says of the place of a node. */
export function enrolledLocationOf(info: NodeInfo): Pick<EnrolledNode, keyof typeof placeKeys> {
  const { countryCode, country, city, asn, ip } = info;
  return {
    ...(countryCode === '' ? {} : { location: [countryCode, country, city] }),
    ...(asn === '' ? {} : { asn }),
    ...(ip === '' ? {} : { ip }),
  };
}

async function versionOf(path: string): Promise<string> {
  const found = await unlessMissing(stat(path));
  return found === null ? 'none' : [found.mtimeMs, found.size, found.ino].join(' ');
}
