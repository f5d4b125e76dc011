import { isIP } from 'node:net';
import type { Clock } from '#kernel/clock.ts';
import {
  type AddressRange,
  addressRules,
  type AddressRules,
  type AddressFamily,
  isSameAddress,
  type AddressObjection,
  addressObjection,
  type Policy,
} from './address.ts';
import { type Failure, failure, toSeconds } from './outcome.ts';
import type { Resolver } from './resolver.ts';

export interface PinnedAddress {
  readonly ok: true;
  /** The one address to connect to. */
  readonly address: string;
  readonly family: AddressFamily;
  /** Every address the name has, in the resolver's order. */
  readonly addresses: readonly string[];
  /** Time that resolution took; 0 for an address. */
  readonly seconds: number;
}

export interface GateRefusal {
  readonly ok: false;
  readonly failure: Failure;
  readonly seconds: number;
}

export interface PinOptions {
  /** The family to use; absent means IPv4 if the name has it, IPv6 otherwise. */
  readonly family?: AddressFamily | undefined;
  /** An expired `Deadline` is a failure like any other; every other abort rejects. */
  readonly signal: AbortSignal;
}

/** The one place where names become addresses and addresses are judged. Probes connect to what it pinned, nothing else. */
export interface Gate {
  /** Resolves a host name or address once, judges every address it has, and pins one. Rejects only when aborted. */
  pin(host: string, options: PinOptions): Promise<PinnedAddress | GateRefusal>;
  /**
   * After connecting: a failure if the peer is not the pinned address, or is this machine itself under `public`. A peer that
   * has reset the connection by then has no address any more, which is no failure of this kind.
   */
  verify(
    pinned: PinnedAddress,
    socket: { readonly remoteAddress?: string | undefined; readonly localAddress?: string | undefined },
  ): Failure | null;
}

export interface GatesOptions {
  readonly resolver: Resolver;
  readonly clock: Clock;
  /** Ranges that this node may reach whatever the policy; only multicast, broadcast and the like stay closed. */
  readonly allow: readonly AddressRange[];
  /** Ranges that this node never reaches. */
  readonly deny: readonly AddressRange[];
  /** The node's own addresses, also the public one that a router gives it. Asked for each check under `public`. */
  readonly ownAddresses: () => readonly string[];
}

/**
 * The gates of a node: one for each command, under a policy. `asked` is the policy of its sender, which the node may have made
 * stricter: `private` is the operator's own.
 */
export function createGates(options: GatesOptions): (policy: Policy, asked?: Policy) => Gate {
  const objections = rememberObjections(addressRules(options.allow, options.deny));
  return (policy, asked = policy) => gateOf(policy, asked, objections, options);
}

/** One gate, if a node needs no more. */
export function createGate({ policy, ...options }: GatesOptions & { readonly policy: Policy }): Gate {
  return createGates(options)(policy);
}

function gateOf(
  policy: Policy,
  asked: Policy,
  objectionAbout: AddressJudge,
  { resolver, clock, ownAddresses }: GatesOptions,
): Gate {
  return {
    async pin(host, { family, signal }) {
      const start = clock.elapsed();
      const literal = isIP(host) !== 0;
      const families = family === undefined ? ([4, 6] as const) : ([family] as const);
      const resolved = literal
        ? { ok: true as const, addresses: [host] }
        : // The search list leads to names that only this network knows: not for strangers.
          await resolver.resolve(host, { families, search: policy === 'private', signal });
      const seconds = literal ? 0 : toSeconds(clock.elapsed() - start);
      if (!resolved.ok) return { ...resolved, seconds };
      const { addresses } = resolved;
      const own = policy === 'public' ? ownAddresses() : [];
      for (const address of addresses) {
        const objection = objectionAbout(address, policy, own);
        if (objection === null) continue;
        const ownFault = objection === 'never' && asked === 'private' && !literal;
        return {
          ok: false,
          failure: ownFault ? blockedAddressFailure(host, address) : forbidden(host, policy, objection),
          seconds,
        };
      }
      const choice = choose(addresses, families);
      if (choice === null) return { ok: false, failure: otherFamily(host, families), seconds };
      return { ok: true, ...choice, addresses, seconds };
    },
    verify(pinned, socket) {
      const { remoteAddress = pinned.address } = socket;
      if (!isSameAddress(remoteAddress, pinned.address)) {
        return failure('node', 'forbidden', 'the connection ended at another address than requested');
      }
      if (policy === 'private') return null;
      const { localAddress } = socket;
      if (localAddress === undefined || !isSameAddress(remoteAddress, localAddress)) return null;
      return failure('node', 'forbidden', 'the target is this node itself');
    },
  };
}

type AddressJudge = (address: string, policy: Policy, own: readonly string[]) => AddressObjection | null;

// The same addresses are asked about again and again, and only own addresses ever change.
function rememberObjections(rules: AddressRules): AddressJudge {
  const known = new Map<string, AddressObjection | null>();
  return (address, policy, own) => {
    if (policy === 'public') return addressObjection(address, policy, rules, own);
    const found = known.get(address);
    if (found !== undefined) return found;
    const objection = addressObjection(address, policy, rules, own);
    if (known.size >= mostRemembered) known.clear();
    known.set(address, objection);
    return objection;
  };
}

const mostRemembered = 20_000;

function choose(
  addresses: readonly string[],
  families: readonly AddressFamily[],
): Pick<PinnedAddress, 'address' | 'family'> | null {
  for (const family of families) {
    const address = addresses.find((one) => isIP(one) === family);
    if (address !== undefined) return { address, family };
  }
  return null;
}

// What a domain looks like that has expired, or whose owner has given it up: the name is the target's own.
function blockedAddressFailure(host: string, address: string): Failure {
  return failure('target', 'name_without_address', `${host} resolves to ${address}, which is no address of a host`);
}

// Under `public` strangers ask: they learn that it is refused, not what the name means in this network.
function forbidden(host: string, policy: Policy, objection: AddressObjection): Failure {
  if (policy === 'public') {
    return failure('node', 'forbidden', `${host} is refused: this node checks public addresses only`);
  }
  const reasons: Readonly<Record<AddressObjection, string>> = {
    no_address: 'it is no address',
    never: 'multicast, broadcast, unspecified and reserved addresses are never checked',
    denied: "it is in the node's list of denied addresses",
    own: "it is the node's own address",
    special: "it is neither a public nor a private address; the node's list of allowed addresses can open it",
    private: 'it is a private address',
  };
  return failure('node', 'forbidden', `${host} is refused: ${reasons[objection]}`);
}

function otherFamily(host: string, families: readonly AddressFamily[]): Failure {
  return failure('node', 'unsupported', `${host} is no IPv${families.join(' or IPv')} address`);
}
