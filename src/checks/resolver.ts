import { promises } from 'node:dns';
import { isIP } from 'node:net';
import { type Clock, deadline, DeadlineError, orAbort } from '#kernel/clock.ts';
import { messageOf, systemCode, WatchpostError } from '#kernel/errors.ts';
import { unlessMissing } from '#kernel/files.ts';
import type { AddressFamily } from './address.ts';
import { candidates, type HostsFile, parseHosts, parseSearchRules, type SearchRules } from './hosts-file.ts';
import { nameFaultOf } from './name-fault.ts';
import { type Failure, failure } from './outcome.ts';

export type ResolveResult =
  | { readonly ok: true; readonly addresses: readonly string[] }
  | { readonly ok: false; readonly failure: Failure };

export interface ResolveOptions {
  readonly families: readonly AddressFamily[];
  /** Whether short names are completed by the search list of resolv.conf(5). */
  readonly search: boolean;
  /** An expired `Deadline` is a failure; any other abort rejects. */
  readonly signal: AbortSignal;
}

/** Turns names into addresses, without a cache. */
export interface Resolver {
  resolve(name: string, options: ResolveOptions): Promise<ResolveResult>;
}

export interface ResolverOptions {
  readonly clock: Clock;
  /** Reads a text file whole. A file that cannot be read counts as empty. */
  readonly readFile: (path: string) => Promise<string>;
  /** `address` or `address:port`; absent means those of resolv.conf(5). */
  readonly servers?: readonly string[];
  /** How long one question waits for one server. */
  readonly timeoutMs?: number;
  /** How often each server is asked. */
  readonly tries?: number;
  /** How long a name may take altogether. */
  readonly limitMs?: number;
  /** After so much silence the resolver itself is tested. */
  readonly doubtMs?: number;
}

const hostsPath = '/etc/hosts';
const searchPath = '/etc/resolv.conf';

/**
 * A resolver over the name servers of this machine. It asks them itself: `getaddrinfo` shares four threads with all file
 * access and cannot be stopped, so one dead name server would delay every check. When a name gets no proper answer, the
 * servers are asked for the root's name servers: if they answer that, the name's own servers are at fault, else ours.
 */
export function createResolver(options: ResolverOptions): Resolver {
  const { clock } = options;
  const read = async (path: string) => (await unlessMissing(options.readFile(path))) ?? '';
  return {
    async resolve(name, { families, search, signal }) {
      if (name === 'localhost' || name.endsWith('.localhost')) return resolved(name, ['127.0.0.1', '::1'], families);
      const hosts: HostsFile = parseHosts(await read(hostsPath));
      const listed = hosts.get(name);
      if (listed !== undefined) return resolved(name, listed, families);
      const rules: SearchRules = search ? parseSearchRules(await read(searchPath)) : { search: [], ndots: 0 };
      using limit = deadline(clock, options.limitMs ?? 5_000, signal);
      const session = openSession(options, limit.signal);
      try {
        return await resolveAny(session, name, candidates(name, rules), families);
      } catch (error) {
        if (error instanceof DeadlineError) return resolverFailure(session, name, true);
        throw error;
      } finally {
        session.close();
      }
    },
  };
}

type Miss = 'no_name' | 'no_address' | 'silence' | 'error';
type AddressLookup = { readonly addresses: readonly string[] } | { readonly miss: Miss };

/** One name's questions to the servers. */
interface Session {
  readonly clock: Clock;
  ask(name: string, family: AddressFamily): Promise<AddressLookup>;
  /** Whether the servers answer for the root. */
  control(): Promise<boolean>;
  /** What `control` has found so far; false if it was not asked or has no answer. */
  readonly controlled: boolean;
  close(): void;
}

function openSession(options: ResolverOptions, signal: AbortSignal): Session {
  const { clock } = options;
  const timeout = options.timeoutMs ?? 1_500;
  const client = new promises.Resolver({ timeout, maxTimeout: timeout, tries: options.tries ?? 2 });
  if (options.servers !== undefined) client.setServers(options.servers);
  let test: Promise<boolean> | undefined;
  let controlled = false;
  const beginControl = (): Promise<boolean> =>
    (test ??= client.resolveNs('').then(
      () => (controlled = true),
      // An empty answer is an answer.
      (error: unknown) => (controlled = systemCode(error) === 'ENODATA'),
    ));
  const control = async (): Promise<boolean> => {
    signal.throwIfAborted();
    return orAbort(beginControl(), signal);
  };
  const doubt = clock.after(options.doubtMs ?? 1_000, () => void beginControl());
  return {
    clock,
    control,
    get controlled() {
      return controlled;
    },
    async ask(name, family) {
      signal.throwIfAborted();
      const question = family === 4 ? client.resolve4(name) : client.resolve6(name);
      try {
        return { addresses: await orAbort(question, signal) };
      } catch (error) {
        signal.throwIfAborted();
        return { miss: missOf(error) };
      }
    },
    close() {
      doubt[Symbol.dispose]();
      client.cancel();
    },
  };
}

/** What an error of `node:dns` says of a name. Throws on any that is no answer. */
export function missOf(error: unknown): Miss {
  switch (systemCode(error)) {
    case 'ENOTFOUND':
    case 'EBADNAME':
    case 'EBADQUERY':
      return 'no_name';
    case 'ENODATA':
      return 'no_address';
    case 'ETIMEOUT':
      return 'silence';
    case 'ESERVFAIL':
    case 'EREFUSED':
    case 'ENOTIMP':
    case 'EFORMERR':
    case 'EBADRESP':
    case 'ECONNREFUSED':
      return 'error';
    default:
      throw new WatchpostError('internal', `unexpected answer of the resolver: ${messageOf(error)}`, { cause: error });
  }
}

async function resolveAny(
  session: Session,
  name: string,
  names: readonly string[],
  families: readonly AddressFamily[],
): Promise<ResolveResult> {
  let exists = false;
  let hasFailed = false;
  for (const [index, candidate] of names.entries()) {
    const lookup = await resolveOne(session, candidate, families);
    if ('addresses' in lookup) return resolved(name, lookup.addresses, families);
    if (lookup.miss === 'error') hasFailed = true;
    // Like glibc, and unlike musl: the servers of one domain of the search list say nothing of the others.
    const isLast = candidate === name || index === names.length - 1;
    if (lookup.miss === 'silence' || (hasFailed && isLast)) {
      await session.control().catch((error: unknown) => {
        if (!(error instanceof DeadlineError)) throw error;
      });
      return resolverFailure(session, name, lookup.miss === 'silence');
    }
    if (lookup.miss === 'no_address') exists = true;
  }
  if (exists) return resolved(name, [], families);
  return { ok: false, failure: failure('target', 'name_not_found', `the name ${name} does not exist`) };
}

const graceMs = 500;

// Asks for both families at once. Some name servers never answer one of them: what came is then enough, after a grace.
async function resolveOne(session: Session, name: string, families: readonly AddressFamily[]): Promise<AddressLookup> {
  const lookups: AddressLookup[] = [];
  await new Promise<void>((resolve, reject) => {
    let grace: Disposable | undefined;
    const onLookup = (lookup: AddressLookup) => {
      lookups.push(lookup);
      if ('addresses' in lookup) grace ??= session.clock.after(graceMs, resolve);
      if (lookups.length < families.length) return;
      grace?.[Symbol.dispose]();
      resolve();
    };
    const onError = (error: Error) => {
      grace?.[Symbol.dispose]();
      reject(error);
    };
    for (const family of families) session.ask(name, family).then(onLookup, onError);
  });
  const addresses = lookups.flatMap((lookup) => ('addresses' in lookup ? lookup.addresses : []));
  if (addresses.length > 0) return { addresses };
  const misses = new Set(lookups.flatMap((lookup) => ('miss' in lookup ? [lookup.miss] : [])));
  const order: readonly Miss[] = ['no_name', 'silence', 'error', 'no_address'];
  return { miss: order.find((miss) => misses.has(miss)) ?? 'no_address' };
}

function resolved(name: string, addresses: readonly string[], families: readonly AddressFamily[]): ResolveResult {
  const fitting = addresses.filter((address) => families.some((family) => family === isIP(address)));
  if (fitting.length > 0) return { ok: true, addresses: fitting };
  const kind = families.length === 1 ? `IPv${families.join('')} address` : 'address';
  return { ok: false, failure: failure('target', 'name_without_address', `the name ${name} has no ${kind}`) };
}

function resolverFailure({ controlled }: Session, name: string, silent: boolean): ResolveResult {
  const code = silent ? 'name_timeout' : 'name_server';
  const what = silent ? 'do not answer' : 'answer with an error';
  const message = controlled
    ? `the name servers of ${name} ${what}`
    : `the resolver of this node does not work: its name servers ${what}`;
  return { ok: false, failure: failure(nameFaultOf(controlled), code, message) };
}
