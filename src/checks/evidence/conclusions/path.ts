import type { PathHop, PathTrace } from '../../path/path-trace.ts';
import {
  conclusion,
  describeHop,
  type EvidenceView,
  joinNodes,
  joinWords,
  largestGroup,
  type NodeEvidence,
  type ConclusionRule,
} from './view.ts';

interface LastRouter {
  readonly hop: PathHop;
  readonly address: string;
  readonly kinds: readonly string[];
}

const pathOf = ({ document }: NodeEvidence) => document.path;
const endOf = (evidence: NodeEvidence) => pathOf(evidence)?.end ?? null;

// The last router that answered, at the first hop where it did: one that rejects answers for the hop behind it, too.
function lastRouter(path: PathTrace | null): LastRouter | null {
  const addressOf = ({ probes }: PathHop) => probes.find((probe) => probe.address !== null)?.address ?? null;
  const last = path?.hops.findLast((one) => addressOf(one) !== null);
  const address = last === undefined ? null : addressOf(last);
  if (path === null || last === undefined || address === null || address === path.address) return null;
  const kinds = last.probes.map(({ kind }) => kind);
  return { hop: path.hops.find((one) => addressOf(one) === address) ?? last, address, kinds };
}

const endsInSilence = (evidence: NodeEvidence) => endOf(evidence) === 'silent' || endOf(evidence) === 'limit';
const lastOf = (evidence: NodeEvidence) => lastRouter(pathOf(evidence));
const hasReached = (path: PathTrace | null | undefined) => path?.end === 'reached';

// A path that ends tells nothing if no node ever gets to the end: targets may leave probes unanswered.
function pathEnds({ failing, healthy }: EvidenceView) {
  const group = largestGroup(failing, (one) => (endsInSilence(one) ? (lastOf(one)?.address ?? null) : null));
  const [first] = group;
  const last = first === undefined ? null : lastOf(first);
  if (last === null) return [];
  const through = healthy.filter((one) => hasReached(pathOf(one)));
  const where = describeHop(last.hop, last.address);
  const packets = `Packets from ${joinNodes(group)} end after ${where}`;
  if (through.length > 0) {
    return conclusion(
      'path',
      'path-ends',
      `${packets}; ${joinNodes(through)} ${through.length > 1 ? 'get' : 'gets'} through`,
    );
  }
  const before = group.filter(({ lastGood, document }) => {
    return hasReached(lastGood?.path) && lastGood?.path?.protocol === document.path?.protocol;
  });
  if (before.length < group.length) return [];
  if (group.length === failing.length && group.length > 1) {
    return conclusion(
      'path',
      'path-same-router',
      `${packets}, the same router for all; the last good paths reached the target`,
    );
  }
  return conclusion(
    'path',
    'path-ends-now',
    `${packets}; the last good ${group.length > 1 ? 'paths' : 'path'} reached the target`,
  );
}

// What a router can say when it does not forward a packet, and what that means.
const rejections: readonly { readonly kind: string; readonly rule: string; readonly say: (nodes: string) => string }[] =
  [
    { kind: 'prohibited', rule: 'path-rejected', say: (nodes) => `rejects packets from ${nodes}: they are prohibited` },
    {
      kind: 'port_unreachable',
      rule: 'path-rejected',
      say: (nodes) => `rejects packets from ${nodes} in place of the target (port unreachable)`,
    },
    {
      kind: 'unreachable',
      rule: 'path-unreachable',
      say: (nodes) => `reports to ${nodes} that the target is unreachable`,
    },
  ];

function rejection({ failing }: EvidenceView) {
  const rejectionOf = (one: NodeEvidence) => {
    const last = endOf(one) === 'rejected' ? lastOf(one) : null;
    return rejections.find(({ kind }) => last?.kinds.includes(kind)) ?? null;
  };
  const group = largestGroup(failing, (one) => {
    const found = rejectionOf(one);
    return found === null ? null : `${found.kind} ${lastOf(one)?.address ?? ''}`;
  });
  const [first] = group;
  const last = first === undefined ? null : lastOf(first);
  const found = first === undefined ? null : rejectionOf(first);
  if (last === null || found === null) return [];
  const text = `The router ${describeHop(last.hop, last.address)} ${found.say(joinNodes(group))}`;
  return conclusion('path', found.rule, text);
}

// The addresses of one turn, if the path ends in the same turn twice.
function loopOf(path: PathTrace | null): readonly string[] | null {
  if (path?.end !== 'loop') return null;
  const addresses = path.hops.flatMap(({ probes }) => probes.find(({ address }) => address !== null)?.address ?? []);
  const last = addresses.at(-1);
  const before = addresses.slice(0, -1).lastIndexOf(last ?? '');
  const turn = before === -1 ? [] : addresses.slice(before, -1);
  return new Set(turn).size > 1 ? turn : null;
}

function loop({ failing }: EvidenceView) {
  const group = largestGroup(failing, (one) => loopOf(pathOf(one))?.toSorted().join(' ') ?? null);
  const [first] = group;
  const turn = first === undefined ? null : loopOf(pathOf(first));
  if (turn === null) return [];
  const [one = '', two = ''] = turn;
  const where = turn.length === 2 ? `between ${one} and ${two}` : `through ${joinWords(turn)}`;
  return conclusion('path', 'path-loop', `Packets from ${joinNodes(group)} loop ${where}`);
}

// A reset or a "port unreachable" that the destination itself sends.
const isRefusal = (path: PathTrace) =>
  path.hops.at(-1)?.probes.some(({ address, kind }) => {
    return address === path.address && kind === (path.protocol === 'tcp' ? 'refused' : 'port_unreachable');
  }) ?? false;

function refusal({ failing }: EvidenceView) {
  const group = largestGroup(failing, (one) => {
    const path = pathOf(one);
    const isRefused = path !== null && one.failure === 'refused' && hasReached(path) && isRefusal(path);
    return isRefused ? `${path.address} ${path.protocol} ${path.port ?? ''}` : null;
  });
  const path = group[0] === undefined ? null : pathOf(group[0]);
  if (path === null || path.port === null) return [];
  const packets = `Packets from ${joinNodes(group)} reach ${path.address}`;
  return conclusion(
    'path',
    'path-refused',
    `${packets}, which refuses ${path.protocol.toUpperCase()} port ${path.port}`,
  );
}

// Only for a failure that shows no more than that there was no connection or no answer.
const afterConnecting: ReadonlySet<string> = new Set(['timeout', 'reset', 'closed']);

function accepted({ failing }: EvidenceView) {
  const group = largestGroup(failing, (one) => {
    const path = pathOf(one);
    const isAccepted = hasReached(path) && path?.hops.at(-1)?.probes.some(({ kind }) => kind === 'connected') === true;
    return isAccepted && afterConnecting.has(one.failure ?? '') ? `${path.address} ${path.port ?? ''}` : null;
  });
  const path = group[0] === undefined ? null : pathOf(group[0]);
  if (path === null || path.port === null) return [];
  const same = group.every(({ lastGood }) => hasReached(lastGood?.path)) ? ' now, as on the last good path' : ' now';
  const text = `Packets from ${joinNodes(group)} reach ${path.address}${same}, and TCP port ${path.port} accepts connections`;
  return conclusion('path', 'path-through', text);
}

function asNumbers(path: PathTrace | null | undefined): readonly number[] | null {
  const numbers = path?.hops.flatMap(({ as }) => as?.number ?? []) ?? [];
  return numbers.length === 0 ? null : numbers.filter((number, index) => number !== numbers[index - 1]);
}

// Single routers change all the time; networks do not.
function changeOf({ document, lastGood }: NodeEvidence): string | null {
  const now = asNumbers(document.path);
  const before = asNumbers(lastGood?.path);
  if (now === null || before === null || !hasReached(lastGood?.path)) return null;
  const at = now.findIndex((number, index) => number !== before[index]);
  const [left, taken] = [before[at], now[at]];
  return at === -1 || left === undefined || taken === undefined ? null : `AS${taken} instead of AS${left}`;
}

function change({ failing }: EvidenceView) {
  const group = largestGroup(failing, changeOf);
  const text = group[0] === undefined ? null : changeOf(group[0]);
  if (text === null) return [];
  return conclusion(
    'path-change',
    'path-changed',
    `The path from ${joinNodes(group)} changed: it leads through ${text}`,
  );
}

// Targets may ignore large requests: it has to have been otherwise before, or to be otherwise elsewhere.
function blackHole({ failing, healthy }: EvidenceView) {
  const passes = (path: PathTrace | null | undefined) => path?.large?.result === 'passed';
  const isPassedElsewhere = healthy.some((one) => passes(pathOf(one)));
  const group = largestGroup(failing, (one) => {
    const large = pathOf(one)?.large;
    const isLost = large?.result === 'lost' && (isPassedElsewhere || passes(one.lastGood?.path));
    return isLost ? String(large.last_hop) : null;
  });
  const [first] = group;
  const path = first === undefined ? null : pathOf(first);
  if (path?.large === undefined) return [];
  const hop = path.hops.find((one) => one.hop === path.large?.last_hop);
  const address = hop?.probes.find((probe) => probe.address !== null)?.address ?? null;
  const where = hop === undefined || address === null ? '' : ` after ${describeHop(hop, address)}`;
  const text = `Small packets from ${joinNodes(group)} reach the target, packets of ${largeBytes} bytes vanish${where} without a message (MTU black hole)`;
  return conclusion('mtu', 'path-mtu', text);
}

// What the path is measured with besides small packets.
const largeBytes = 1_500;

export const pathRules: readonly ConclusionRule[] = [rejection, loop, refusal, blackHole, pathEnds];

/** What need not be the cause. */
export const changeRules: readonly ConclusionRule[] = [change];

/** What is stated only if nothing else is. */
export const lastRules: readonly ConclusionRule[] = [accepted];
