import { expect, test } from 'vitest';
import { checkOf, CheckSpec, type Outcome, unfinishedOutcome } from '#checks/index.ts';
import { figuresOf } from '#checks/mtr/figures.ts';
import { interimHopsOf } from '#checks/path/hops.ts';
import type { PathHop, PathProbe, PathTrace } from '#checks/path/path-trace.ts';
import type { RoundsPlan } from '#checks/path/rounds.ts';

const answer = (address: string | null, ms = 1, more: Partial<PathProbe> = {}): PathProbe => {
  return { address, seconds: ms / 1e3, kind: 'time_exceeded', ...more };
};
const none: PathProbe = { address: null, seconds: null, kind: 'none' };
const hop = (number: number, ...probes: PathProbe[]): PathHop => ({ hop: number, probes });

function traceWith(hops: PathHop[], more: Partial<PathTrace> = {}): PathTrace {
  return { protocol: 'icmp', port: null, address: '192.0.2.9', family: 4, hops, end: 'silent', mtu: null, ...more };
}

function rawOf(type: 'traceroute' | 'mtr', trace: PathTrace, options: object = {}): string {
  const spec = CheckSpec.parse({ type, host: 'www.example.com', ...options });
  const detail = type === 'mtr' ? { path: trace, figures: figuresOf(trace.hops) } : trace;
  return checkOf(type).rawOutput?.(unfinishedOutcome(detail), { spec, node: 'de1' }) ?? '';
}

const hops = [
  hop(1, answer('10.0.0.1', 0.1), answer('10.0.0.1', 0.24), answer('10.0.0.1', 0.2)),
  hop(2, none, none, none),
  hop(3, answer('198.51.100.1', 12.3456), none, answer('198.51.100.2', 13)),
  hop(4, answer('198.51.100.9', 14, { kind: 'prohibited' }), none, none),
];

test('the raw output of traceroute is that of the program', () => {
  expect(rawOf('traceroute', traceWith(hops))).toBe(`\
traceroute to www.example.com (192.0.2.9), 30 hops max, 64 byte packets
 1  10.0.0.1  0.100 ms  0.240 ms  0.200 ms
 2  * * *
 3  198.51.100.1  12.346 ms * 198.51.100.2  13.000 ms
 4  198.51.100.9  14.000 ms !X * *
`);
});

test('it has names and networks if they were looked up, and the size of what opens a connection', () => {
  const named = [
    { ...hop(1, answer('10.0.0.1', 1, { name: 'gw.example' })), as: null },
    { ...hop(2, answer('198.51.100.1', 2, { name: null })), as: { number: 64_500, name: 'Example' } },
  ];
  expect(rawOf('traceroute', traceWith(named, { protocol: 'tcp' }), { protocol: 'tcp', names: true })).toBe(`\
traceroute to www.example.com (192.0.2.9), 30 hops max, 60 byte packets
 1  gw.example (10.0.0.1) [*]  1.000 ms
 2  198.51.100.1 (198.51.100.1) [AS64500]  2.000 ms
`);
});

test('the raw output of mtr is that of its report', () => {
  expect(rawOf('mtr', traceWith(hops))).toBe(`\
HOST: de1                         Loss%   Snt   Last   Avg  Best  Wrst StDev
  1.|-- 10.0.0.1                   0.0%     3    0.2   0.2   0.1   0.2   0.1
  2.|-- ???                       100.0     3    0.0   0.0   0.0   0.0   0.0
  3.|-- 198.51.100.1              33.3%     3   13.0  12.7  12.3  13.0   0.3
  4.|-- 198.51.100.9              66.7%     3   14.0  14.0  14.0  14.0   0.0
`);
  const known = [{ ...hop(1, answer('10.0.0.1')), as: { number: 64_500, name: 'Example' } }];
  expect(rawOf('mtr', traceWith(known))).toContain('  1. AS64500  10.0.0.1');
});

test.each(['traceroute', 'mtr'] as const)('strangers read no private address in the raw output of %s', (type) => {
  const shown = hop(3, answer('9.9.9.9', 12), none);
  const seen = [...hops.slice(0, 2), shown];
  const trace = traceWith(seen);
  const detail = type === 'mtr' ? { path: trace, figures: figuresOf(seen) } : trace;
  const spec = CheckSpec.parse({ type, host: 'www.example.com', names: true });
  const outcome: Outcome = checkOf(type).forStrangers(unfinishedOutcome(detail));
  const raw = checkOf(type).rawOutput?.(outcome, { spec, node: 'de1' });
  expect(raw).toContain('9.9.9.9');
  expect(raw).toContain('(hidden)');
  expect(raw).not.toContain('10.0.0.1');
});

test('without a path it is the reason', () => {
  const spec = CheckSpec.parse({ type: 'mtr', host: 'www.example.com' });
  expect(checkOf('mtr').rawOutput?.(unfinishedOutcome(null), { spec, node: 'de1' })).toBe(
    'the check is not finished\n',
  );
});

test('an interim result ends with the last hop that answered, without probes whose answer may still come', () => {
  const plan: RoundsPlan = {
    protocol: 'icmp',
    address: '192.0.2.9',
    maxHops: 30,
    rounds: 3,
    roundMs: 50,
    waitMs: 1_000,
    countsLoss: false,
  };
  const sent = { elapsedMs: 0, wallMs: 0, withinMs: 0 };
  const arrival = (address: string) => ({ address, kind: 'time_exceeded' as const, seconds: 0.001 });
  const probes = [
    { hop: 1, sent, answer: arrival('10.0.0.1') },
    { hop: 3, sent, answer: arrival('10.0.0.3') },
    { hop: 4, sent, answer: null },
  ];
  const { hops: found, end } = interimHopsOf(plan, { probes, lastHop: null, errno: null, namelessReplies: 0 });
  expect(end).toBe('measuring');
  expect(found.map((one) => one.hop)).toEqual([1, 3]);
});
