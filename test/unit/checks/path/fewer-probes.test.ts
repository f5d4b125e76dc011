import { expect, test } from 'vitest';
import { withFewerProbes } from '#checks/path/fewer-probes.ts';
import type { PathProbe, PathTrace } from '#checks/path/path-trace.ts';

const none: PathProbe = { address: null, seconds: null, kind: 'none' };
const sizeOf = (trace: PathTrace) => JSON.stringify(trace).length;

/** 64 hops of 16 probes to IPv6 routers with names, every third without an answer. */
const long: PathTrace = {
  protocol: 'icmp',
  port: null,
  address: '2001:db8::9',
  family: 6,
  hops: Array.from({ length: 64 }, (_, index) => ({
    hop: index + 1,
    probes: Array.from({ length: 16 }, (_, at) => {
      if (at % 3 === 0) return none;
      const address = `2001:db8:1234:5678:9abc:def0:1234:${index}`;
      return { address, name: `router${index}.backbone.example.net`, seconds: at / 1e3, kind: 'time_exceeded' };
    }),
  })),
  end: 'reached',
  mtu: 1_500,
};

test('a path that is too large keeps all hops, and as many answered probes of each as fit', () => {
  const kept = withFewerProbes(long, 44 * 1_024);
  expect(sizeOf(long)).toBeGreaterThan(100_000);
  expect(sizeOf(kept)).toBeLessThanOrEqual(44 * 1_024);
  expect(kept.hops.map(({ hop }) => hop)).toEqual(long.hops.map(({ hop }) => hop));
  for (const { probes } of kept.hops) {
    expect(probes.map(({ seconds }) => seconds)).toEqual([0.001, 0.002, 0.004, 0.005, 0.007]);
  }
  // With one more for each it would not fit.
  const more = kept.hops.map((hop) => ({ ...hop, probes: [...hop.probes, ...hop.probes.slice(0, 1)] }));
  expect(sizeOf({ ...kept, hops: more })).toBeGreaterThan(44 * 1_024);
});

test('what fits stays as it is, and each hop keeps a probe in any case', () => {
  expect(withFewerProbes(long, 1_000_000)).toBe(long);
  expect(withFewerProbes({ ...long, hops: [] }, 10).hops).toEqual([]);
  expect(withFewerProbes(long, 10).hops.every(({ probes }) => probes.length === 1)).toBe(true);
});
