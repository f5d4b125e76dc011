import { canTake, isHeld, type Lease, leaseTimes, nextEpoch, type ObservedLease, observeLease } from '#hubs/lease.ts';
import { beforeAll, canAct, effectOf, type LogPosition, positionAfter, type RecordHead } from '#hubs/position.ts';
import type { Random } from '#kernel/random.ts';

/** What a hub did because of a record of its own. */
export interface ModelAct extends RecordHead {
  readonly hub: string;
  readonly sequence: number;
}

interface ModelServer {
  readonly log: RecordHead[];
  lease: Lease | null;
  revision: number;
}

interface ModelHub {
  readonly name: string;
  /** Its monotonic clock differs from that of the others. */
  readonly offset: number;
  isUp: boolean;
  isPaused: boolean;
  /** Whether requests arrive, and whether answers do. */
  sends: boolean;
  hears: boolean;
  position: LogPosition;
  observed: ObservedLease | null;
  /** Set while it believes that it leads. */
  term: { readonly epoch: number; revision: number; renewedAt: number; hasRead: boolean; hasBegun: boolean } | null;
  /** It leaves the lease alone until then. */
  patientUntil: number;
  /** What it wrote and has no answer for. */
  inDoubt: RecordHead | null;
}

export interface ModelRun {
  readonly acts: readonly ModelAct[];
  /** Who led in which epoch, in order. */
  readonly terms: readonly { readonly hub: string; readonly epoch: number }[];
  readonly log: readonly RecordHead[];
  /** The final positions, after everything was healed. */
  readonly positions: readonly LogPosition[];
  /** How many hubs believe that they lead in the end. */
  readonly leaders: number;
}

/**
 * Runs three hubs over one server for so many steps, with random pauses, deaths, returns and partitions in each direction; then
 * heals everything. With `isFaulty` the server now and then accepts a record although another one came in between, and lets a second
 * hub take the lease that the first one took.
 */
export function runHubs(random: Random, steps: number, isFaulty: boolean): ModelRun {
  const server: ModelServer = { log: [], lease: null, revision: 0 };
  const hubs = ['a', 'b', 'c'].map((name) => startHub(name, random));
  const acts: ModelAct[] = [];
  const terms: { hub: string; epoch: number }[] = [];
  let now = 0;

  for (let step = 0; step < steps; step += 1) {
    now += random.next() * 3_000;
    const hub = hubs[Math.floor(random.next() * hubs.length)];
    if (hub === undefined) continue;
    if (random.next() < 0.15) disturb(hub, random);
    else if (hub.isUp && !hub.isPaused) work(hub, server, now + hub.offset, { random, acts, terms, isFaulty });
  }
  for (const hub of hubs) Object.assign(hub, { isUp: true, isPaused: false, sends: true, hears: true });
  for (let step = 0; step < 60; step += 1) {
    now += 1_000;
    for (const hub of hubs) work(hub, server, now + hub.offset, { random, acts, terms, isFaulty: false });
  }
  for (const hub of hubs) read(hub, server);
  const leaders = hubs.filter(({ term }) => term?.hasBegun === true).length;
  return { acts, terms, log: server.log, positions: hubs.map(({ position }) => position), leaders };
}

function startHub(name: string, random: Random): ModelHub {
  return {
    name,
    offset: random.next() * 1e9,
    isUp: true,
    isPaused: false,
    sends: true,
    hears: true,
    position: beforeAll,
    observed: null,
    term: null,
    patientUntil: Number.NEGATIVE_INFINITY,
    inDoubt: null,
  };
}

function disturb(hub: ModelHub, random: Random): void {
  const which = random.next();
  if (which < 0.3) hub.isPaused = !hub.isPaused;
  else if (which < 0.5) hub.sends = !hub.sends;
  else if (which < 0.7) hub.hears = !hub.hears;
  else if (which < 0.85) Object.assign(hub, { sends: true, hears: true, isPaused: false });
  else {
    hub.isUp = !hub.isUp;
    // What is on its disk outlives it: the position.
    Object.assign(hub, { observed: null, term: null, inDoubt: null });
  }
}

interface WorkContext {
  readonly random: Random;
  readonly acts: ModelAct[];
  readonly terms: { hub: string; epoch: number }[];
  readonly isFaulty: boolean;
}

function work(hub: ModelHub, server: ModelServer, now: number, context: WorkContext): void {
  if (!hub.sends || !hub.hears) {
    // Requests may arrive without an answer.
    if (hub.sends && hub.term?.hasBegun === true && context.random.next() < 0.1) write(hub, server, context);
    return;
  }
  const before = hub.observed;
  hub.observed = observeLease(before, server.lease, now);
  const { term } = hub;
  if (term === null) {
    if (context.isFaulty && isSecond(before, server, now) && context.random.next() < 0.5)
      return take(hub, server, now, before);
    read(hub, server);
    if (now >= hub.patientUntil && canTake(hub.observed, now, leaseTimes)) take(hub, server, now, hub.observed);
  } else if (term.hasBegun && server.lease?.hub !== hub.name && server.lease?.epoch === term.epoch)
    renew(hub, server, now);
  else if (server.lease?.revision !== term.revision) resign(hub);
  else if (!isHeld(term.renewedAt, now, leaseTimes) || context.random.next() < 0.5) renew(hub, server, now);
  else if (term.hasBegun) write(hub, server, context);
  else begin(hub, server, now, context);
}

// Whether another hub has taken the very lease that this one may take too, as far as it knows.
function isSecond(before: ObservedLease | null, { lease }: ModelServer, now: number): before is ObservedLease {
  return before !== null && lease?.revision === (before.lease?.revision ?? 0) + 1 && canTake(before, now, leaseTimes);
}

function take(hub: ModelHub, server: ModelServer, now: number, observed: ObservedLease): void {
  const epoch = nextEpoch(observed, hub.position);
  server.revision += 1;
  server.lease = { hub: hub.name, epoch, revision: server.revision, isReleased: false };
  hub.observed = observeLease(hub.observed, server.lease, now);
  hub.term = { epoch, revision: server.revision, renewedAt: now, hasRead: false, hasBegun: false };
}

function renew(hub: ModelHub, server: ModelServer, now: number): void {
  if (hub.term === null || server.lease === null) return;
  server.revision += 1;
  server.lease = { ...server.lease, hub: hub.name, revision: server.revision };
  hub.term.revision = server.revision;
  hub.term.renewedAt = now;
}

// Others may write between its look at the log and its first record.
function begin(hub: ModelHub, server: ModelServer, now: number, context: WorkContext): void {
  if (hub.term === null) return;
  if (!hub.term.hasRead) {
    read(hub, server);
    hub.term.hasRead = true;
    if (hub.position.epoch < hub.term.epoch) return;
    resign(hub);
    hub.patientUntil = now + leaseTimes.takeAfterMs;
  } else if (write(hub, server, context)) {
    hub.term.hasBegun = true;
    context.terms.push({ hub: hub.name, epoch: hub.term.epoch });
  }
}

function resign(hub: ModelHub): void {
  hub.term = null;
  hub.inDoubt = null;
}

// Whether it was accepted, and its writer knows.
function write(hub: ModelHub, server: ModelServer, { random, acts, isFaulty }: WorkContext): boolean {
  const { term, position } = hub;
  if (term === null || !settleDoubt(hub, server, acts)) return false;
  const record: RecordHead = { epoch: term.epoch, n: position.n + 1, after: position.sequence };
  const isExpected = server.log.length === record.after;
  const isAccepted = isExpected || (isFaulty && server.log.length === record.after + 1 && random.next() < 0.5);
  if (isAccepted) server.log.push(record);
  if (!hub.hears) {
    hub.inDoubt = record;
    return false;
  }
  if (!isAccepted) resign(hub);
  return isAccepted && acknowledge(hub, record, server.log.length, acts);
}

// What was written without an answer is looked for before anything else is written.
function settleDoubt(hub: ModelHub, server: ModelServer, acts: ModelAct[]): boolean {
  const { inDoubt } = hub;
  if (inDoubt === null) return true;
  if (!hub.hears) return false;
  hub.inDoubt = null;
  if (server.log[inDoubt.after] === inDoubt) return acknowledge(hub, inDoubt, inDoubt.after + 1, acts);
  if (server.log.length === inDoubt.after) return true;
  resign(hub);
  return false;
}

// As in `Leadership`, nothing but `canAct` stands between an acknowledgement and the act.
function acknowledge(hub: ModelHub, record: RecordHead, sequence: number, acts: ModelAct[]): boolean {
  if (!canAct(record, sequence)) {
    resign(hub);
    return false;
  }
  hub.position = positionAfter(hub.position, record, sequence, 'counts');
  acts.push({ hub: hub.name, sequence, ...record });
  return true;
}

function read(hub: ModelHub, server: ModelServer): void {
  for (const [index, record] of server.log.entries()) {
    const sequence = index + 1;
    if (sequence <= hub.position.sequence) continue;
    const effect = effectOf(hub.position, record, sequence);
    if (effect === 'gap' || effect === 'diverged') throw new Error(`${hub.name}: ${effect} at ${sequence}`);
    hub.position = positionAfter(hub.position, record, sequence, effect);
  }
}
