import { expect, test } from 'vitest';
import type { Metrics } from '#metrics/metrics.ts';
import { usualPairLimit } from '#metrics/pair-limit.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { round, testMetrics, textOf, watched } from '../../support/metrics.ts';
import { samplesOf } from '../../support/samples.ts';
import { nodeInfo, notUp, up, votes } from '../../support/votes.ts';

const shownWith = (pairLimit: number, blackbox = false) => ({ shown: { buckets: null, blackbox, pairLimit } });
const samples = async (metrics: Metrics) => samplesOf(await textOf(metrics));
const certified = (at: number) => up(0.25, { facts: { certificate_expires_at: at }, phases: { tls: 0.03 } });
const pinged = { ...up(0.02, { facts: { loss: 0 } }), detail: { attempts: [], duplicates: 0, timed_by: null } };
const summed = 'watchpost_metrics_nodes_summed';

test('beyond the limit of pairs the counts of a target are summed over its nodes; what each saw last stays', async () => {
  const metrics = testMetrics({}, undefined, shownWith(3));
  metrics.targetsChanged([watched('shop'), watched('mail')]);
  metrics.roundDone(round('shop', { votes: votes(certified(1_900_000_000), certified(1_800_000_000)) }));
  expect(await textOf(metrics)).toContain('watchpost_up{target="shop",check="http",node="zz1"} 1');
  metrics.roundDone(round('mail', { votes: votes(certified(1_900_000_000), notUp('status', 'target', 1.5)) }));
  metrics.roundDone(round('shop', { votes: votes(certified(1_900_000_000), certified(1_800_000_000)) }));
  const text = await textOf(metrics);
  const ofNodes = new Set(Array.from(text.matchAll(/^(\w+)\{[^}]*target=[^}]*node=/gm), ([, name]) => name));
  expect([...ofNodes]).toEqual(['watchpost_up', 'watchpost_check_last_duration_seconds']);
  expect(text).not.toContain('watchpost_check_phase_seconds{');
  const seen = samplesOf(text);
  const atNode = (name: string) => `{target="${name}",check="http",node="zz2"}`;
  expect([seen.get(`watchpost_up${atNode('shop')}`), seen.get(`watchpost_up${atNode('mail')}`)]).toEqual([1, 0]);
  expect(seen.get(`watchpost_check_last_duration_seconds${atNode('mail')}`)).toBe(1.5);
  const results = 'watchpost_check_results_total{target="mail",check="http",outcome=';
  expect([seen.get(`${results}"up",reason="none"}`), seen.get(`${results}"down",reason="status"}`)]).toEqual([1, 1]);
  expect(seen.get('watchpost_check_duration_seconds_count{target="shop",check="http"}')).toBe(2);
  expect(seen.get('watchpost_check_duration_seconds_sum{target="mail",check="http"}')).toBe(1.75);
  expect(seen.get('watchpost_certificate_expiry_timestamp_seconds{target="shop"}')).toBe(1_800_000_000);
  expect(seen.get('watchpost_target_state{target="shop",state="up"}')).toBe(1);
  expect(seen.get(summed)).toBe(1);
});

test('what a node saw last is absent while it cannot tell, and once the node or the target is gone', async () => {
  let nodes = ['zz1', 'zz2'];
  const sources = { nodes: () => nodes.map((name) => ({ info: nodeInfo(name), up: true, eventLoopLagSeconds: 0 })) };
  const metrics = testMetrics(sources, undefined, shownWith(0));
  metrics.targetsChanged([watched('shop'), watched('mail')]);
  const ups = async () => (await textOf(metrics)).match(/^watchpost_up\{.*/gm) ?? [];
  for (const name of ['shop', 'mail']) metrics.roundDone(round(name, { votes: votes(up(0.1), up(0.1)) }));
  expect(await ups()).toHaveLength(4);
  metrics.roundDone(round('shop', { votes: votes(up(0.1), notUp('no_answer', 'node', null)) }));
  expect(await ups()).toHaveLength(3);
  metrics.targetsChanged([watched('mail')]);
  expect(await ups()).toHaveLength(2);
  nodes = ['zz2'];
  await textOf(metrics);
  expect(await ups()).toEqual(['watchpost_up{target="mail",check="http",node="zz2"} 1']);
});

test('an extra round of fewer nodes changes nothing; a scrape drops nothing that is summed', async () => {
  const metrics = testMetrics({}, undefined, shownWith(1));
  metrics.targetsChanged([watched('shop')]);
  metrics.roundDone(round('shop', { votes: votes(up(0.1), up(0.1)) }));
  metrics.roundDone(round('shop', { votes: votes(up(0.1)) }));
  await textOf(metrics);
  const seen = await samples(metrics);
  expect(seen.get('watchpost_check_duration_seconds_count{target="shop",check="http"}')).toBe(3);
});

test('each pair has its series again once there are a tenth fewer than the limit', async () => {
  const { log, lines } = memoryLog();
  const metrics = testMetrics({}, undefined, { ...shownWith(10), log });
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const all = (some: readonly string[]) => some.map((name) => watched(name));
  const look = () => {
    for (const name of names) metrics.roundDone(round(name, { votes: votes(up(0.1), up(0.1)) }));
  };
  metrics.targetsChanged(all(names));
  look();
  expect((await samples(metrics)).get(summed)).toBe(1);
  metrics.targetsChanged(all(names.slice(1)));
  look();
  expect((await samples(metrics)).get(summed)).toBe(1);
  metrics.targetsChanged(all(names.slice(2)));
  look();
  const text = await textOf(metrics);
  expect(samplesOf(text).get(summed)).toBe(0);
  expect(text).toContain('watchpost_up{target="f",check="http",node="zz2"} 1');
  expect(text).not.toContain('watchpost_check_duration_seconds_count{target="f",check="http"}');
  expect(lines.map(({ level, msg, pairs, limit }) => [level, msg, pairs, limit])).toEqual([
    [40, 'too many pairs of target and node for series of each; metrics sum them over nodes', 12, 10],
    [30, 'each pair of target and node has series of its own in metrics again', 8, 10],
  ]);
});

test('fewer nodes are fewer pairs, and the configuration may set another limit', async () => {
  let nodes = ['zz1', 'zz2'];
  const sources = { nodes: () => nodes.map((name) => ({ info: nodeInfo(name), up: true, eventLoopLagSeconds: 0 })) };
  const metrics = testMetrics(sources, undefined, shownWith(2));
  metrics.targetsChanged([watched('shop'), watched('mail')]);
  const look = () => {
    for (const name of ['shop', 'mail']) metrics.roundDone(round(name, { votes: votes(...nodes.map(() => up(0.1))) }));
  };
  look();
  expect((await samples(metrics)).get(summed)).toBe(1);
  metrics.showAs({ buckets: null, blackbox: false, pairLimit: usualPairLimit });
  expect((await samples(metrics)).get(summed)).toBe(0);
  metrics.showAs({ buckets: null, blackbox: false, pairLimit: 0 });
  expect((await samples(metrics)).get(summed)).toBe(1);
  metrics.showAs({ buckets: null, blackbox: false, pairLimit: 3 });
  expect((await samples(metrics)).get(summed)).toBe(1);
  nodes = ['zz1'];
  await textOf(metrics);
  look();
  expect((await samples(metrics)).get(summed)).toBe(0);
});

test('figures of blackbox_exporter are of single nodes: beyond the limit there are none', async () => {
  const metrics = testMetrics({}, undefined, shownWith(1, true));
  metrics.targetsChanged([watched('shop', { check: 'ping' })]);
  metrics.roundDone(round('shop', { check: 'ping', votes: votes(pinged) }));
  expect(await textOf(metrics)).toContain('probe_success{');
  metrics.roundDone(round('shop', { check: 'ping', votes: votes(pinged, pinged) }));
  expect(await textOf(metrics)).not.toContain('probe_success');
  metrics.showAs({ buckets: null, blackbox: true, pairLimit: 2 });
  metrics.roundDone(round('shop', { check: 'ping', votes: votes(pinged, pinged) }));
  expect(await textOf(metrics)).toContain('probe_success{');
});

test('it says once that pairs have become too many', async () => {
  let calls = 0;
  const metrics = testMetrics({}, undefined, { ...shownWith(1), onManyPairs: () => void (calls += 1) });
  metrics.targetsChanged([watched('shop')]);
  metrics.roundDone(round('shop', { votes: votes(up(0.1)) }));
  expect(calls).toBe(0);
  for (let index = 0; index < 2; index += 1) metrics.roundDone(round('shop', { votes: votes(up(0.1), up(0.1)) }));
  expect(calls).toBe(1);
});
