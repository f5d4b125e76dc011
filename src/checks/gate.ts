import type { Failure } from './outcome.ts';

export type Family = 4 | 6;

/** Which addresses a command may reach: only globally routable ones, or private and loopback ones besides. */
export type Policy = 'public' | 'private';

export interface Pinned {
  readonly ok: true;
  /** The one address to connect to. */
  readonly address: string;
  readonly family: Family;
  /** Every address the name has, in the resolver's order. */
  readonly addresses: readonly string[];
  /** Time that resolution took; 0 for an address. */
  readonly seconds: number;
}

export interface Refused {
  readonly ok: false;
  readonly failure: Failure;
  readonly seconds: number;
}

export interface PinOptions {
  /** The family to use; absent means IPv4 where the name has it, IPv6 otherwise. */
  readonly family?: Family | undefined;
  readonly signal: AbortSignal;
}

/** The one place where names become addresses and addresses are judged. Probes connect to what it pinned, nothing else. */
export interface Gate {
  /** Resolves a host name or address once, judges every address it has, and pins one. Rejects only when aborted. */
  pin(host: string, options: PinOptions): Promise<Pinned | Refused>;
  /** After connecting: a failure where the peer is not the pinned address, or is this machine itself under `public`. */
  verify(
    pinned: Pinned,
    socket: { readonly remoteAddress?: string | undefined; readonly localAddress?: string | undefined },
  ): Failure | null;
}
