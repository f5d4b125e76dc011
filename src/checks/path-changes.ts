import { attributesOf, listenToNetlink, type Notifications } from './netlink.ts';

/** Where packets to an address go: its link by index, and the address of its gateway if it has one. */
export interface NetworkPath {
  readonly link: number | null;
  readonly gateway: Buffer | null;
}

/** Changes of links, routes and gateways that the kernel reports, for the duration of checks. */
export interface PathChanges {
  /** A moment: what changes after it can be asked for. `elapsed` is monotonic time in milliseconds. */
  mark(elapsed: number): number;
  /** What changed on the way to an address after a mark, in words that follow "this node"; null if nothing did. Null for no address. */
  since(mark: number, destination: Buffer | null, path: NetworkPath): string | null;
}

/** Listens from now on, once for the thread; if the kernel cannot be listened to, nothing ever changes. */
export async function loadPathChanges(): Promise<PathChanges> {
  loaded ??= listenToNetlink(groups).then((notifications) =>
    notifications === null ? { mark: () => 0, since: () => null } : followPaths(notifications),
  );
  return loaded;
}

let loaded: Promise<PathChanges> | undefined;

// Numbers of Linux (`linux/rtnetlink.h`, `linux/neighbour.h`, `linux/if.h`).
const groups = 0x1 | 0x4 | 0x40 | 0x400;
const RTM_NEWLINK = 16;
const RTM_DELLINK = 17;
const RTM_NEWROUTE = 24;
const RTM_DELROUTE = 25;
const RTM_NEWNEIGH = 28;
const RTA_DST = 1;
const RTA_OIF = 4;
const RTA_GATEWAY = 5;
const NDA_DST = 1;
const IFF_UP_AND_LOWER_UP = 0x1_00_01;
const RTM_F_CLONED = 0x200;
const AF_INET = 2;
const AF_UNSPEC = 0;
const NUD_FAILING = 0x01 | 0x20;
const NUD_GOOD = 0x02 | 0x04 | 0x08 | 0x40 | 0x80;
const unicastAndRefusals: ReadonlySet<number> = new Set([1, 6, 7, 8]);
const headerBytes = 12;

type PathEvent = { readonly number: number } & (
  | { readonly kind: 'link'; readonly link: number }
  | { readonly kind: 'route'; readonly prefix: Buffer; readonly bits: number; readonly bytes: 4 | 16 }
  | { readonly kind: 'gateway'; readonly link: number; readonly address: Buffer }
);
type UnnumberedEvent<One> = One extends PathEvent ? Omit<One, 'number'> : never;

// A check that begins this soon after a look counts from that look: what changed in between is its own.
const lookEveryMs = 100;
// A machine may have thousands of routes and neighbours come and go.
const mostChanges = 1_024;
const mostKnown = 8_192;

export function followPaths(notifications: Notifications): PathChanges {
  const links = new Map<number, boolean>();
  const routes = new Set<string>();
  const failing = new Set<string>();
  let changes: PathEvent[] = [];
  let count = 0;
  let lookedAt = Number.NEGATIVE_INFINITY;

  function note(change: UnnumberedEvent<PathEvent>): void {
    count += 1;
    changes.push({ ...change, number: count });
    if (changes.length > 2 * mostChanges) changes = changes.slice(-mostChanges);
  }

  function takeLink(type: number, body: Buffer): void {
    if (body.length < 16 || body[0] !== AF_UNSPEC) return;
    const link = body.readInt32LE(4);
    const isUp = type === RTM_NEWLINK && (body.readUInt32LE(8) & IFF_UP_AND_LOWER_UP) === IFF_UP_AND_LOWER_UP;
    if (links.get(link) !== isUp) note({ kind: 'link', link });
    links.set(link, isUp);
  }

  // A route that is announced again as it is, as after each router advertisement, is no change.
  function takeRoute(type: number, body: Buffer): void {
    if (body.length < headerBytes || !unicastAndRefusals.has(body[7] ?? 0)) return;
    if ((body.readUInt32LE(8) & RTM_F_CLONED) !== 0) return;
    const attributes = attributesOf(body, headerBytes);
    const bytes = body[0] === AF_INET ? 4 : 16;
    const bits = body[1] ?? 0;
    const prefix = Buffer.from(attributes.get(RTA_DST) ?? Buffer.alloc(bytes));
    const part = (attribute: number) => attributes.get(attribute)?.toString('hex') ?? '';
    const key = [bytes, bits, prefix.toString('hex'), body[4], body[7], part(RTA_OIF), part(RTA_GATEWAY)].join(' ');
    const isThere = type === RTM_NEWROUTE;
    if (isThere && routes.has(key)) return;
    if (routes.size >= mostKnown) routes.clear();
    if (isThere) routes.add(key);
    else routes.delete(key);
    note({ kind: 'route', prefix, bits, bytes });
  }

  // Of neighbours only those count that fail, and those that did and are there again.
  function readNeighbour(body: Buffer): void {
    const address = body.length < headerBytes ? undefined : attributesOf(body, headerBytes).get(NDA_DST);
    if (address === undefined) return;
    const link = body.readInt32LE(4);
    const state = body.readUInt16LE(8);
    const key = `${link} ${address.toString('hex')}`;
    const isFailing = (state & NUD_FAILING) !== 0;
    if (isFailing === failing.has(key) || (!isFailing && (state & NUD_GOOD) === 0)) return;
    if (failing.size >= mostKnown) failing.clear();
    if (isFailing) failing.add(key);
    else failing.delete(key);
    note({ kind: 'gateway', link, address: Buffer.from(address) });
  }

  function look(): void {
    notifications.read((type, body) => {
      if (type === RTM_NEWLINK || type === RTM_DELLINK) takeLink(type, body);
      else if (type === RTM_NEWROUTE || type === RTM_DELROUTE) takeRoute(type, body);
      else if (type === RTM_NEWNEIGH) readNeighbour(body);
    });
  }

  return {
    mark(elapsed) {
      if (elapsed - lookedAt >= lookEveryMs) {
        lookedAt = elapsed;
        look();
      }
      return count;
    },
    since(mark, destination, path) {
      look();
      const found = changes.findLast((change) => change.number > mark && affects(change, destination, path));
      return found === undefined ? null : words[found.kind];
    },
  };
}

const words = {
  link: 'had its link go down or come back meanwhile',
  route: 'had its routes changed meanwhile',
  gateway: 'lost its gateway or got it back meanwhile',
} as const;

function affects(change: PathEvent, destination: Buffer | null, { link, gateway }: NetworkPath): boolean {
  switch (change.kind) {
    case 'link':
      return change.link === link;
    case 'route':
      return destination === null ? change.bits === 0 : covers(change, destination);
    case 'gateway':
      return change.link === link && gateway !== null && change.address.equals(gateway);
  }
}

function covers({ prefix, bits, bytes }: Extract<PathEvent, { kind: 'route' }>, destination: Buffer): boolean {
  if (destination.length !== bytes) return false;
  const whole = bits >> 3;
  if (!prefix.subarray(0, whole).equals(destination.subarray(0, whole))) return false;
  const rest = bits & 7;
  return rest === 0 || ((prefix[whole] ?? 0) ^ (destination[whole] ?? 0)) >> (8 - rest) === 0;
}
