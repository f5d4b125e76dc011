import type { ProbeEnvironment } from '../check.ts';
import { type Failure, failure, thirdPartyFailure } from '../outcome.ts';
import { type FetchResult, fetchDocument } from '../http/fetch.ts';
import type { Network } from '../reach.ts';
import { createRemembered, type CacheableValue } from '../remembered.ts';
import { readServerList, serverFor, type ServerList } from './bootstrap.ts';
import { readRegistration, type DomainRegistration } from './registration.ts';
import type { Spec } from './spec.ts';
import { askWhois } from './whois.ts';

/** What a registry said. */
export interface RegistrationAnswer {
  /** Null for a domain that is not registered. */
  readonly registration: DomainRegistration | null;
  readonly server: string;
  /** In milliseconds since the epoch. */
  readonly askedAt: number;
  /** Why it could not be asked again since. */
  readonly problem: Failure | null;
  /** What it was like to ask; null if that was before. */
  readonly asking: Pick<FetchResult, 'address' | 'phases' | 'seconds'> | null;
}

/** What to look up, and whom to ask. */
export type LookupSpec = Pick<Spec, 'host' | 'server' | 'bootstrap' | 'whois'>;

/** A registry's answer, or why there is none. */
export type LookupResult =
  | ({ readonly ok: true } & RegistrationAnswer)
  | { readonly ok: false; readonly failure: Failure };

/** Asks registries, and not often. */
export interface RegistrationLookup {
  lookUp(spec: LookupSpec, network: Network): Promise<LookupResult>;
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** For how long an answer is good; who asks meanwhile hears it again. */
const answerKeptMs = 6 * hour;
/** That there is no such domain may be over sooner. */
const denialKeptMs = hour;
/** How soon a server is asked again that gave no answer, unless it said itself when. */
const retryMs = 15 * minute;
const listRetryMs = minute;
/** For how long an answer does if the server gives no newer one. */
const oldestMs = 3 * day;

const largestList = 4_194_304;
const largestAnswer = 1_048_576;
const mostLists = 8;
const mostDomains = 10_000;

type List = { readonly ok: true; readonly list: ServerList } | { readonly ok: false; readonly failure: Failure };

/** One for all checks of a node: it asks for the list once a day, and for each domain every six hours at the most. */
export function createLookup(environment: ProbeEnvironment): RegistrationLookup {
  const { clock } = environment;
  const lists = createRemembered<List>(clock, mostLists);
  const answers = createRemembered<LookupResult>(clock, mostDomains);

  async function findList(url: string, network: Network, before: List | null): Promise<CacheableValue<List>> {
    const fetched = await fetchDocument(
      { url, headers: json, largestBytes: largestList, redirects: 3 },
      network,
      environment,
    );
    const read = readList(url, fetched);
    if (read.ok) return { value: read, keepMs: day };
    // An old list is better than none.
    return { value: before?.ok === true ? before : read, keepMs: listRetryMs };
  }

  async function serverOf({ host, server, bootstrap }: LookupSpec, network: Network): Promise<string | Failure | null> {
    if (server !== undefined) return server;
    const read = await lists.of(bootstrap, network.signal, async (before) => findList(bootstrap, network, before));
    if (!read.ok) return read.failure;
    const named = serverFor(host, read.list, bootstrap.startsWith('https:'));
    if (named !== null) return named;
    return null;
  }

  async function ask(
    spec: LookupSpec,
    network: Network,
    before: LookupResult | null,
  ): Promise<CacheableValue<LookupResult>> {
    const server = await serverOf(spec, network);
    if (server === null) return askByWhois(spec, network, before);
    if (typeof server !== 'string') return { value: orBefore(before, server, clock.now()), keepMs: listRetryMs };
    const url = `${server.replace(/\/+$/, '')}/domain/${spec.host}`;
    const fetched = await fetchDocument(
      { url, headers: rdap, largestBytes: largestAnswer, redirects: 5 },
      network,
      environment,
    );
    const name = new URL(server).host;
    const read = readAnswer(name, spec.host, fetched);
    const now = clock.now();
    if (read !== null && 'code' in read) return { value: orBefore(before, read, now), keepMs: pauseOf(fetched, now) };
    const { address, phases, seconds } = fetched;
    const asking = { address, phases, seconds };
    return {
      value: { ok: true, registration: read, server: name, askedAt: now, problem: null, asking },
      keepMs: read === null ? denialKeptMs : answerKeptMs,
    };
  }

  async function askByWhois(
    { host, whois }: LookupSpec,
    network: Network,
    before: LookupResult | null,
  ): Promise<CacheableValue<LookupResult>> {
    const asked = await askWhois(whois, host, network, environment);
    const now = clock.now();
    if (asked === null) {
      const message = `no RDAP and no WHOIS server is known for ${host}: "server" or "whois" can name one`;
      return { value: orBefore(before, failure('third_party', 'unsupported', message), now), keepMs: retryMs };
    }
    if (!asked.ok) return { value: orBefore(before, asked.failure, now), keepMs: retryMs };
    const { address, phases, seconds, server } = asked;
    const { registration } = asked.answer;
    const asking = { address, phases, seconds };
    return {
      value: { ok: true, registration, server, askedAt: now, problem: null, asking },
      keepMs: registration === null ? denialKeptMs : answerKeptMs,
    };
  }

  return {
    async lookUp(spec, network) {
      let isNew = false;
      const looked = await answers.of(
        `${spec.server ?? `${spec.bootstrap} ${spec.whois}`} ${spec.host}`,
        network.signal,
        (before) => {
          isNew = true;
          return ask(spec, network, before);
        },
      );
      return isNew || !looked.ok ? looked : { ...looked, asking: null };
    },
  };
}

const json = { accept: 'application/json' };
const rdap = { accept: 'application/rdap+json, application/json' };

function readList(url: string, fetched: FetchResult): List {
  const whose = `the list of RDAP servers at ${new URL(url).host}`;
  if (!fetched.ok) return { ok: false, failure: thirdPartyFailure(whose, fetched.failure) };
  const { status } = fetched.head;
  if (status !== 200) return { ok: false, failure: failure('third_party', 'status', `${whose}: status ${status}`) };
  const list = readServerList(fetched.content.toString('utf8'));
  if (list !== null) return { ok: true, list };
  return { ok: false, failure: failure('third_party', 'protocol', `${whose} cannot be read`) };
}

function readAnswer(server: string, host: string, fetched: FetchResult): DomainRegistration | null | Failure {
  const whose = `the RDAP server ${server}`;
  if (!fetched.ok) return thirdPartyFailure(whose, fetched.failure);
  const { status } = fetched.head;
  // RFC 7480, section 5.3.
  if (status === 404) return null;
  if (status !== 200) return failure('third_party', 'status', `${whose} answered ${status}`);
  const registration = readRegistration(fetched.content);
  if (registration === null) return failure('third_party', 'protocol', `the answer of ${whose} cannot be read`);
  const { domain } = registration;
  if (domain === null || domain === host.toLowerCase().replace(/\.$/, '')) return registration;
  return failure('third_party', 'protocol', `the answer of ${whose} is about ${domain}, not ${host}`);
}

function orBefore(before: LookupResult | null, problem: Failure, now: number): LookupResult {
  const isGood = before?.ok === true && now - before.askedAt <= oldestMs;
  return isGood ? { ...before, problem } : { ok: false, failure: problem };
}

// RFC 9110, section 10.2.3: seconds, or a date.
function pauseOf(fetched: FetchResult, now: number): number {
  const [written = ''] = fetched.ok ? fetched.head.valuesOf('retry-after') : [];
  const ms = /^\d+$/.test(written) ? Number(written) * 1_000 : Date.parse(written) - now;
  return ms > retryMs ? Math.min(ms, day) : retryMs;
}
