import { expect, test } from 'vitest';
import { checkOf, CheckSpec, type Outcome } from '#checks/index.ts';
import { figuresOf } from '#checks/mtr/figures.ts';
import { concealHops, pathAnswers } from '#checks/path/addresses.ts';
import { outcomeOfPath } from '#checks/path/conclusion.ts';
import { hopLabel } from '#checks/path/lines.ts';
import { kindOfNotice, type PathSocket, type ProbeAnswer } from '#checks/path/probe-socket.ts';
import { runRounds, type RoundsPlan } from '#checks/path/rounds.ts';
import { hopsOf } from '#checks/path/hops.ts';
import { PathTrace } from '#checks/path/path-trace.ts';
import type { PathHop, PathProbe } from '#checks/path/path-trace.ts';
import { systemClock } from '#kernel/clock.ts';

const answer = (address: string, ms = 1, kind: PathProbe['kind'] = 'time_exceeded'): PathProbe => {
  return { address, seconds: ms / 1e3, kind };
};
const none: PathProbe = { address: null, seconds: null, kind: 'none' };
const hop = (number: number, ...probes: PathProbe[]): PathHop => ({ hop: number, probes });

function traceWith(hops: PathHop[], more: Partial<PathTrace> = {}): PathTrace {
  return { protocol: 'icmp', port: null, address: '192.0.2.9', family: 4, hops, end: 'reached', mtu: null, ...more };
}

test('the figures of a hop', () => {
  const [figures] = figuresOf([hop(1, answer('a', 2), none, answer('a', 4), answer('a', 3))]);
  expect(figures).toEqual({
    hop: 1,
    sent: 4,
    received: 3,
    loss: 0.25,
    last: 0.003,
    mean: 0.003,
    best: 0.002,
    worst: 0.004,
    deviation: 0.000_816,
    jitter: 0.001_5,
    limits_answers: false,
  });
});

test('loss at a hop is its limit only if a hop behind it answered everything', () => {
  const all = [answer('x'), answer('x')];
  const half = [answer('x'), none];
  const silent = [none, none];
  const limits = (...rows: PathProbe[][]) =>
    figuresOf(rows.map((probes, index) => hop(index + 1, ...probes))).map(({ limits_answers }) => limits_answers);
  expect(limits(half, all)).toEqual([true, false]);
  expect(limits(half, half, all)).toEqual([true, true, false]);
  expect(limits(half, half)).toEqual([false, false]);
  expect(limits(half, silent)).toEqual([false, false]);
  // Nothing is known of a hop that never answers.
  expect(limits(silent, all)).toEqual([false, false]);
});

test.each([
  [4, 11, 0, 'time_exceeded'],
  [4, 3, 0, 'unreachable'],
  [4, 3, 1, 'unreachable'],
  [4, 3, 3, 'port_unreachable'],
  [4, 3, 4, 'too_big'],
  [4, 3, 13, 'prohibited'],
  [4, 5, 1, null],
  [4, 4, 0, null],
  [6, 3, 0, 'time_exceeded'],
  [6, 1, 0, 'unreachable'],
  [6, 1, 1, 'prohibited'],
  [6, 1, 4, 'port_unreachable'],
  [6, 2, 0, 'too_big'],
  [6, 137, 0, null],
] as const)('IPv%i: an ICMP message of type %i, code %i is %s', (family, type, code, kind) => {
  expect(kindOfNotice(family, { type, code, fromNetwork: true, by: null })).toBe(kind);
});

test('the failure says where the path ends', () => {
  const failureOf = (trace: PathTrace) => {
    const outcome = outcomeOfPath(trace, trace, { phases: {}, timeoutMs: 1_000, seconds: null, facts: {} });
    return outcome.status === 'up' ? null : `${outcome.failure.code}: ${outcome.failure.message}`;
  };
  const two = [hop(1, answer('192.0.2.1')), hop(2, answer('192.0.2.2'))];
  expect(failureOf(traceWith(two))).toBeNull();
  expect(failureOf(traceWith([...two, hop(3, none)], { end: 'silent' }))).toBe(
    'timeout: no answer after hop 2 (192.0.2.2) within 1s',
  );
  expect(failureOf(traceWith([hop(1, none)], { end: 'silent' }))).toBe('timeout: no answer from any hop within 1s');
  const rejected = [...two, hop(3, answer('192.0.2.2', 1, 'prohibited'))];
  expect(failureOf(traceWith(rejected, { end: 'rejected' }))).toBe(
    'unreachable: administratively prohibited, says 192.0.2.2 (hop 3)',
  );
  expect(failureOf(traceWith([...two, hop(3, answer('192.0.2.1'))], { end: 'loop' }))).toBe(
    'unreachable: packets go in a circle: hop 3 is 192.0.2.1 again',
  );
  expect(failureOf(traceWith(two, { end: 'limit' }))).toBe('timeout: not reached within 2 hops; the last is 192.0.2.2');
  expect(failureOf(traceWith([], { end: 'error', error: 'no such device' }))).toBe(
    'local: could not send: no such device',
  );
});

test('strangers see no private hops, their names or what names them', () => {
  const hops = [
    hop(1, { ...answer('10.0.0.1'), name: 'gw.internal' }),
    hop(2, { ...answer('8.8.8.8'), name: 'dns.google' }),
  ];
  const { hops: seen } = concealHops(traceWith(hops));
  expect(seen[0]?.probes[0]).toEqual({ address: null, name: null, seconds: 0.001, kind: 'time_exceeded' });
  expect(seen[1]?.probes[0]?.name).toBe('dns.google');
  expect(seen.map(hopLabel)).toEqual(['(hidden)', 'dns.google (8.8.8.8)']);
  const outcome: Outcome = {
    status: 'down',
    seconds: null,
    address: '8.8.8.8',
    phases: {},
    facts: {},
    detail: traceWith(hops, { end: 'silent' }),
    failure: { source: 'target', code: 'timeout', message: 'no answer after hop 1 (10.0.0.1)' },
  };
  expect(JSON.stringify(checkOf('traceroute').forStrangers(outcome))).not.toMatch(/10\.0\.0\.1|internal/);
  const measured = { ...outcome, detail: { path: outcome.detail, figures: [] } };
  expect(JSON.stringify(checkOf('mtr').forStrangers(measured))).not.toMatch(/10\.0\.0\.1|internal/);
});

test('paths are compared by networks if they are known, and not at all if they are not whole', () => {
  const hops = [hop(1, answer('192.0.2.1'), answer('192.0.2.1')), hop(2, none), hop(3, answer('192.0.2.9'))];
  expect(pathAnswers(traceWith(hops))).toEqual(['192.0.2.1', '192.0.2.9']);
  expect(pathAnswers(traceWith(hops, { end: 'silent' }))).toBeNull();
  const named = hops.map((one, index) => ({ ...one, as: index === 1 ? null : { number: 64_500, name: 'Example' } }));
  expect(pathAnswers(traceWith(named))).toEqual(['AS64500']);
});

test('ICMP takes no port', () => {
  for (const type of ['traceroute', 'mtr']) {
    expect(CheckSpec.safeParse({ type, host: 'a.example', port: 80 }).error?.issues[0]?.message).toMatch(
      /ICMP has no ports/,
    );
    expect(CheckSpec.safeParse({ type, host: 'a.example', port: 80, protocol: 'tcp' }).success).toBe(true);
  }
});

/** A path over UDP whose routers quote only the header of what they answer to. */
function headerOnly(hops: number, answersData: boolean): PathSocket {
  const waiting: ProbeAnswer[] = [];
  return {
    send(_, ttl) {
      const isHost = ttl >= hops;
      const kind = isHost ? (answersData ? 'reply' : 'port_unreachable') : 'time_exceeded';
      waiting.push({ probe: null, address: `192.0.2.${isHost ? 9 : ttl}`, kind, stampMs: null });
      return { ok: true, wallMs: 0 };
    },
    drain: (onAnswer) => waiting.splice(0).forEach(onAnswer),
    wallMs: () => 0,
    close: () => {},
  };
}

test.each([true, false])(
  'answers that do not state their probe are sorted out hop by hop (data: %s)',
  async (answersData) => {
    const plan: RoundsPlan = {
      protocol: 'udp',
      address: '192.0.2.9',
      maxHops: 8,
      rounds: 3,
      roundMs: 5,
      waitMs: 100,
      countsLoss: false,
    };
    const result = await runRounds(
      headerOnly(4, answersData),
      plan,
      { clock: systemClock },
      new AbortController().signal,
    );
    const { hops, end } = hopsOf(plan, result);
    expect(end).toBe('reached');
    expect(hops.map(({ probes }) => probes[0]?.address)).toEqual(['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.9']);
  },
);

test('a trace is what its schema says', () => {
  const trace = traceWith([hop(1, answer('192.0.2.9', 1, 'reply'))], {
    mtu: 1_500,
    large: { result: 'passed', last_hop: null },
  });
  expect(PathTrace.parse(trace)).toEqual(trace);
});
