import type { TargetBudgetLeft } from '#history/reader.ts';
import { expect, test } from 'vitest';
import type { Outcome } from '#checks/index.ts';
import type { Metrics } from '#metrics/metrics.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { round, startOfTest, testMetrics, textOf, watched } from '../../support/metrics.ts';
import { samplesOf } from '../../support/samples.ts';
import { nodeInfo, notUp, unknown, up, votes } from '../../support/votes.ts';

const samples = async (metrics: Metrics) => samplesOf(await textOf(metrics));
const measured: Outcome = up(0.25, {
  phases: { resolve: 0.01, connect: 0.02, tls: 0.03 },
  facts: { certificate_expires_at: 1_800_000_000 },
});
const pinged: Outcome = up(0.02, {
  facts: { loss: 0.25, rtt_min: 0.01, rtt_mean: 0.02, rtt_max: 0.03, rtt_deviation: 0.005, answer_ttl: 57 },
});

test('a check shows its duration, its phases and its outcome for each node', async () => {
  const metrics = testMetrics();
  metrics.targetsChanged([watched('shop')]);
  metrics.roundDone(round('shop', { votes: votes(measured, notUp('status', 'target', 1.5)) }));
  const seen = await samples(metrics);
  expect(seen.get('watchpost_check_last_duration_seconds{target="shop",check="http",node="zz1"}')).toBe(0.25);
  expect(seen.get('watchpost_check_last_duration_seconds{target="shop",check="http",node="zz2"}')).toBe(1.5);
  expect(seen.get('watchpost_check_duration_seconds_bucket{le="0.2",target="shop",check="http",node="zz1"}')).toBe(0);
  expect(seen.get('watchpost_check_duration_seconds_bucket{le="0.5",target="shop",check="http",node="zz1"}')).toBe(1);
  expect(seen.get('watchpost_check_duration_seconds_count{target="shop",check="http",node="zz2"}')).toBe(1);
  expect(seen.get('watchpost_check_phase_seconds{target="shop",node="zz1",phase="tls"}')).toBe(0.03);
  const up = 'watchpost_check_results_total{target="shop",check="http",node="zz1",outcome="up",reason="none"}';
  const down = 'watchpost_check_results_total{target="shop",check="http",node="zz2",outcome="down",reason="status"}';
  expect([seen.get(up), seen.get(down)]).toEqual([1, 1]);
});

test('a check without a duration shows no last duration and no phases, and its histogram stays', async () => {
  const metrics = testMetrics();
  metrics.targetsChanged([watched('shop')]);
  metrics.roundDone(round('shop', { votes: votes(measured) }));
  metrics.roundDone(round('shop', { votes: votes(notUp('timeout')) }));
  const text = await textOf(metrics);
  expect(text).not.toContain('watchpost_check_last_duration_seconds{');
  expect(text).not.toContain('watchpost_check_phase_seconds{');
  expect(text).toContain('watchpost_check_duration_seconds_count{target="shop",check="http",node="zz1"} 1');
});

test('an unknown outcome is counted and leaves the histogram alone', async () => {
  const metrics = testMetrics();
  metrics.targetsChanged([watched('shop')]);
  metrics.roundDone(round('shop', { votes: votes(notUp('busy', 'node', 3)), verdict: { status: 'unknown' } }));
  const text = await textOf(metrics);
  expect(text).toContain('outcome="unknown",reason="busy"} 1');
  expect(text).toContain('watchpost_check_duration_seconds_count{target="shop",check="http",node="zz1"} 0');
});

test('loss and round trips come from the facts of any type of check', async () => {
  const metrics = testMetrics();
  metrics.targetsChanged([watched('gateway', { check: 'ping' })]);
  metrics.roundDone(round('gateway', { check: 'ping', votes: votes(pinged) }));
  const seen = await samples(metrics);
  expect(seen.get('watchpost_ping_loss_ratio{target="gateway",node="zz1"}')).toBe(0.25);
  for (const [stat, seconds] of Object.entries({ min: 0.01, mean: 0.02, max: 0.03, deviation: 0.005 })) {
    expect(seen.get(`watchpost_ping_rtt_seconds{target="gateway",node="zz1",stat="${stat}"}`)).toBe(seconds);
  }
});

test('round trips go when the next check measures none; the expiry of a certificate stays', async () => {
  const metrics = testMetrics();
  metrics.targetsChanged([watched('shop')]);
  metrics.roundDone(round('shop', { votes: votes({ ...measured, facts: { ...measured.facts, ...pinged.facts } }) }));
  metrics.roundDone(round('shop', { votes: votes(notUp('refused')) }));
  const text = await textOf(metrics);
  expect(text).not.toContain('watchpost_ping_rtt_seconds{');
  expect(text).toContain('watchpost_certificate_expiry_timestamp_seconds{target="shop",node="zz1"} 1800000000');
});

test('the expiry of a certificate goes when the target is moved to another host', async () => {
  const metrics = testMetrics();
  metrics.targetsChanged([watched('shop')]);
  metrics.roundDone(round('shop', { votes: votes(measured) }));
  metrics.targetsChanged([watched('shop', { host: 'http://shop.example.net' })]);
  const text = await textOf(metrics);
  expect(text).not.toContain('watchpost_certificate_expiry_timestamp_seconds{');
  expect(text).toContain('watchpost_check_duration_seconds_count{target="shop",check="http",node="zz1"} 1');
});

test.each(['up', 'partial', 'down', 'unknown'] as const)(
  'a target that is %s is that and nothing else',
  async (status) => {
    const metrics = testMetrics();
    metrics.targetsChanged([watched('shop')]);
    metrics.roundDone(round('shop', { verdict: { status } }));
    const seen = await samples(metrics);
    const states = ['up', 'partial', 'down', 'unknown'].map((state) => [
      state,
      seen.get(`watchpost_target_state{target="shop",state="${state}"}`),
    ]);
    expect(Object.fromEntries(states)).toEqual({ up: 0, partial: 0, down: 0, unknown: 0, [status]: 1 });
  },
);

test('a target that was never checked is unknown and has no last round', async () => {
  const metrics = testMetrics();
  metrics.targetsChanged([watched('shop')]);
  const text = await textOf(metrics);
  expect(text).toContain('watchpost_target_state{target="shop",state="unknown"} 1');
  expect(text).not.toContain('watchpost_last_round_timestamp_seconds{');
});

test('the info of a target has its own labels under a prefix and its host without query', async () => {
  const metrics = testMetrics();
  metrics.targetsChanged([
    watched('shop', { host: 'https://a.example/x?token=s#f', labels: { team: 'web', target: 'x' } }),
    watched('zone', { check: 'dns', host: 'example.com' }),
  ]);
  const text = await textOf(metrics);
  expect(text).toContain(
    'watchpost_target_info{target="shop",check="http",host="https://a.example/x",label_team="web",label_target="x"} 1',
  );
  expect(text).toContain('watchpost_target_info{target="zone",check="dns",host="example.com"} 1');
});

test('a reload that changes labels replaces the info and keeps counters and state', async () => {
  const metrics = testMetrics();
  metrics.targetsChanged([watched('shop', { labels: { team: 'web' } })]);
  metrics.roundDone(round('shop', { verdict: { status: 'down' } }));
  metrics.targetsChanged([watched('shop', { labels: { team: 'core' } })]);
  metrics.roundDone(round('shop', { verdict: { status: 'down' } }));
  const text = await textOf(metrics);
  expect(text).not.toContain('label_team="web"');
  expect(text).toContain('label_team="core"');
  expect(text).toContain('watchpost_target_state{target="shop",state="down"} 1');
  expect(text).toContain('node="zz1",outcome="up",reason="none"} 2');
});

test('a removed target leaves no series behind, not even by a round that was under way', async () => {
  const metrics = testMetrics();
  metrics.targetsChanged([watched('shop'), watched('zone')]);
  metrics.roundDone(round('shop', { votes: votes({ ...measured, facts: { ...measured.facts, ...pinged.facts } }) }));
  metrics.incidentChanged({ target: 'shop', rule: 'down', severity: 'critical', active: true, suppressed: false });
  expect(await textOf(metrics)).toContain('target="shop"');
  metrics.targetsChanged([watched('zone')]);
  metrics.roundDone(round('shop'));
  metrics.incidentChanged({ target: 'shop', rule: 'down', severity: 'critical', active: false, suppressed: false });
  const text = await textOf(metrics);
  expect(text).not.toContain('target="shop"');
  expect(text).toContain('target="zone"');
});

test('a target that gets another check type starts its series anew', async () => {
  const metrics = testMetrics();
  metrics.targetsChanged([watched('shop')]);
  metrics.roundDone(round('shop'));
  metrics.targetsChanged([watched('shop', { check: 'tcp' })]);
  metrics.roundDone(round('shop'));
  expect(await textOf(metrics)).not.toContain('check="http"');
  metrics.roundDone(round('shop', { check: 'tcp' }));
  expect(await textOf(metrics)).toContain(
    'watchpost_check_duration_seconds_count{target="shop",check="tcp",node="zz1"} 1',
  );
});

test('a removed node leaves no series behind', async () => {
  let names = ['zz1', 'zz2'];
  const nodes = () => names.map((name) => ({ info: nodeInfo(name), up: name === 'zz1', eventLoopLagSeconds: null }));
  const metrics = testMetrics({ nodes });
  metrics.targetsChanged([watched('shop')]);
  metrics.roundDone(round('shop'));
  const before = await textOf(metrics);
  expect(before).toContain('watchpost_node_up{node="zz2"} 0');
  expect(before).toContain('watchpost_check_last_duration_seconds{target="shop",check="http",node="zz2"}');
  names = ['zz1'];
  const after = await textOf(metrics);
  expect(after).not.toContain('zz2');
  expect(after).toContain(
    'watchpost_node_info{node="zz1",country="Germany",city="Frankfurt",asn="AS64500",version=""} 1',
  );
});

test('a node tells its clock, round trip, spool and version, as far as they are known', async () => {
  const known = { version: '0.2.0', clockOffsetSeconds: -0.25, roundTripSeconds: 0.05, spooled: 7 };
  const states = [
    { info: nodeInfo('zz1'), up: true, eventLoopLagSeconds: 0, ...known },
    { info: nodeInfo('zz2'), up: false, eventLoopLagSeconds: null },
  ];
  const metrics = testMetrics({ nodes: () => states });
  const seen = await samples(metrics);
  const of = (figure: string, node: string) => seen.get(`watchpost_node_${figure}{node="${node}"}`);
  expect(of('clock_offset_seconds', 'zz1')).toBe(-0.25);
  expect(of('round_trip_seconds', 'zz1')).toBe(0.05);
  expect(of('spooled_results', 'zz1')).toBe(7);
  expect([...seen.keys()].filter((name) => name.startsWith('watchpost_node_info'))[0]).toContain('version="0.2.0"');
  for (const figure of ['clock_offset_seconds', 'round_trip_seconds', 'spooled_results'])
    expect(of(figure, 'zz2')).toBeUndefined();
  states[0] = { info: nodeInfo('zz1', { city: 'Berlin' }), up: true, eventLoopLagSeconds: 0, ...known };
  const moved = await textOf(metrics);
  expect(moved.match(/watchpost_node_info\{node="zz1"/g)).toHaveLength(1);
  expect(moved).toContain('city="Berlin"');
});

test('a node that contradicts most of the others is told by its share, for an hour', async () => {
  const clock = new FakeClock();
  const metrics = testMetrics({ nodes: () => ['zz1', 'zz2', 'zz3'].map((name) => node(name)) }, clock);
  const node = (name: string) => ({ info: nodeInfo(name), up: true, eventLoopLagSeconds: null });
  metrics.targetsChanged([watched('shop')]);
  const ratios = async () =>
    [...(await samples(metrics))].filter(([name]) => name.includes('disagreement')).map(([, ratio]) => ratio);
  expect(await ratios()).toEqual([]);
  metrics.roundDone(round('shop', { votes: votes(up(), up(), unknown()) }));
  expect(await ratios()).toEqual([0, 0]);
  for (let count = 0; count < 3; count += 1)
    metrics.roundDone(round('shop', { votes: votes(up(), up(), notUp('refused')) }));
  expect(await ratios()).toEqual([0, 0, 1]);
  await clock.advance(1_800_000);
  metrics.roundDone(round('shop', { votes: votes(up(), up(), up()) }));
  expect(await ratios()).toEqual([0, 0, 0.75]);
  await clock.advance(2_400_000);
  expect(await ratios()).toEqual([0, 0, 0]);
  await clock.advance(3_600_000);
  expect(await ratios()).toEqual([]);
});

test('two nodes that contradict each other are both told of, and one alone is not compared', async () => {
  const metrics = testMetrics();
  metrics.targetsChanged([watched('shop')]);
  metrics.roundDone(round('shop', { votes: votes(up()) }));
  expect(await textOf(metrics)).not.toContain('watchpost_node_disagreement_ratio{');
  metrics.roundDone(round('shop', { votes: votes(up(), notUp('refused')) }));
  const seen = await samples(metrics);
  for (const node of ['zz1', 'zz2']) expect(seen.get(`watchpost_node_disagreement_ratio{node="${node}"}`)).toBe(1);
});

test('requests are counted by path, method and code, and sealing by its pieces and what is left', async () => {
  const metrics = testMetrics({ store: () => ({ bytes: 1, queued: 0, unsealedSeconds: 4_000 }) });
  metrics.requestAnswered({ route: '/api/v1/checks/:id', method: 'GET', status: 200, seconds: 0.02 });
  metrics.requestAnswered({ route: null, method: 'GET', status: 404, seconds: 0.001 });
  metrics.upkeepDone(0.004);
  const seen = await samples(metrics);
  expect(seen.get('watchpost_http_requests_total{route="/api/v1/checks/:id",method="GET",code="200"}')).toBe(1);
  expect(seen.get('watchpost_http_requests_total{route="none",method="GET",code="404"}')).toBe(1);
  expect(seen.get('watchpost_http_request_seconds_bucket{le="0.03",route="/api/v1/checks/:id"}')).toBe(1);
  expect(seen.get('watchpost_store_upkeep_seconds_sum')).toBe(0.004);
  expect(seen.get('watchpost_store_unsealed_age_seconds')).toBe(4_000);
});

test('calls of jobs are counted by what became of them, each from 0 on', async () => {
  const metrics = testMetrics();
  for (const outcome of ['success', 'success', 'unknown_secret'] as const) metrics.beatAnswered(outcome);
  const seen = await samples(metrics);
  const told = ['start', 'success', 'failure', 'unknown_secret', 'too_many', 'malformed', 'not_stored'].map(
    (outcome) => [outcome, seen.get(`watchpost_heartbeat_calls_total{outcome="${outcome}"}`)],
  );
  expect(Object.fromEntries(told)).toEqual({
    start: 0,
    success: 2,
    failure: 0,
    unknown_secret: 1,
    too_many: 0,
    malformed: 0,
    not_stored: 0,
  });
});

test('lists of targets show whether they can be had, and one that is named no longer shows nothing', async () => {
  let lists = [
    { name: 'ssh', failures: 0, hadAt: startOfTest, isGood: true },
    { name: 'web', failures: 0, hadAt: null, isGood: false },
  ];
  const metrics = testMetrics({ lists: () => lists });
  const shown = async () => [...(await samples(metrics))].filter(([name]) => name.startsWith('watchpost_target_list_'));
  expect(await shown()).toEqual([
    ['watchpost_target_list_up{list="ssh"}', 1],
    ['watchpost_target_list_up{list="web"}', 0],
    ['watchpost_target_list_last_success_timestamp_seconds{list="ssh"}', startOfTest / 1_000],
    ['watchpost_target_list_failures_total{list="ssh"}', 0],
    ['watchpost_target_list_failures_total{list="web"}', 0],
  ]);
  lists = [{ name: 'web', failures: 3, hadAt: null, isGood: false }];
  expect(await shown()).toEqual([
    ['watchpost_target_list_up{list="web"}', 0],
    ['watchpost_target_list_failures_total{list="web"}', 3],
  ]);
});

const withProbes = (sources = {}) =>
  testMetrics(sources, undefined, { shown: { buckets: null, blackbox: true, pairLimit: 20_000 } });
const ping = { ...pinged, detail: { attempts: [], duplicates: 0, timed_by: null } };

test('probes bear the labels of their target, and what these say of instance and job counts', async () => {
  const metrics = withProbes();
  const labels = { team: 'web', instance: 'gateway.example', target: 'mine' };
  metrics.targetsChanged([watched('gateway', { check: 'ping', host: '192.0.2.1#x', labels })]);
  metrics.roundDone(round('gateway', { check: 'ping', votes: votes(ping) }));
  expect(await textOf(metrics)).toContain(
    'probe_success{instance="gateway.example",team="web",target="gateway",node="zz1"} 1\n',
  );
  metrics.targetsChanged([watched('gateway', { check: 'ping', host: '192.0.2.1#x' })]);
  expect(await textOf(metrics)).not.toContain('probe_success{');
  metrics.roundDone(round('gateway', { check: 'ping', votes: votes(ping) }));
  expect(await textOf(metrics)).toContain('probe_success{instance="192.0.2.1",target="gateway",node="zz1"} 1\n');
});

test('a probe whose node failed says nothing, one that got no answer is no success', async () => {
  const metrics = withProbes();
  metrics.targetsChanged([watched('gateway', { check: 'ping' })]);
  metrics.roundDone(round('gateway', { check: 'ping', votes: votes(ping, ping) }));
  metrics.roundDone(round('gateway', { check: 'ping', votes: votes(notUp('timeout'), unknown()) }));
  const seen = [...(await samples(metrics))].filter(([name]) => name.startsWith('probe_'));
  expect(seen.filter(([name]) => name.includes('zz2'))).toEqual([]);
  expect(seen.filter(([name]) => name.startsWith('probe_success'))).toMatchObject([[expect.anything(), 0]]);
  expect(seen.filter(([name]) => name.startsWith('probe_duration'))).toEqual([]);
});

test('probes go with their target and with their node, and are not there unless they are wanted', async () => {
  let names = ['zz1', 'zz2'];
  const nodes = () => names.map((name) => ({ info: nodeInfo(name), up: true, eventLoopLagSeconds: null }));
  const metrics = withProbes({ nodes });
  metrics.targetsChanged([watched('gateway', { check: 'ping' })]);
  metrics.roundDone(round('gateway', { check: 'ping', votes: votes(ping, ping) }));
  names = ['zz1'];
  expect(await textOf(metrics)).not.toContain('zz2');
  expect(await textOf(metrics)).toContain('probe_success{');
  metrics.targetsChanged([]);
  expect(await textOf(metrics)).not.toContain('probe_success{');
  const plain = testMetrics();
  expect(await textOf(plain)).not.toContain('probe_');
});

test('the buckets of durations are those that are set', async () => {
  const metrics = testMetrics({}, undefined, { shown: { buckets: [0.3, 2], blackbox: false, pairLimit: 20_000 } });
  metrics.targetsChanged([watched('shop')]);
  metrics.roundDone(round('shop', { votes: votes(measured) }));
  const bounds = [...(await textOf(metrics)).matchAll(/^watchpost_check_duration_seconds_bucket\{le="([^"]+)"/gm)];
  expect(bounds.map(([, bound]) => bound)).toEqual(['0.3', '2.0', '+Inf']);
});

test('other buckets begin the counts of durations anew, the same ones do not', async () => {
  const metrics = testMetrics();
  const bounds = async () =>
    [...(await samples(metrics))]
      .filter(([name]) => name.startsWith('watchpost_check_duration_seconds_bucket') && name.includes('zz1'))
      .map(([name, count]) => [/le="([^"]+)"/.exec(name)?.[1], count]);
  metrics.targetsChanged([watched('shop')]);
  metrics.roundDone(round('shop', { votes: votes(measured) }));
  metrics.showAs({ buckets: null, blackbox: false, pairLimit: 20_000 });
  expect((await bounds()).at(-1)).toEqual(['+Inf', 1]);
  metrics.showAs({ buckets: [0.3, 2], blackbox: false, pairLimit: 20_000 });
  expect(await bounds()).toEqual([
    ['0.3', 0],
    ['2.0', 0],
    ['+Inf', 0],
  ]);
  metrics.roundDone(round('shop', { votes: votes(measured) }));
  expect(await bounds()).toEqual([
    ['0.3', 1],
    ['2.0', 1],
    ['+Inf', 1],
  ]);
  metrics.targetsChanged([]);
  expect(await bounds()).toEqual([]);
});

test('probes come and go with the configuration', async () => {
  const metrics = testMetrics();
  metrics.targetsChanged([watched('gateway', { check: 'ping' })]);
  metrics.showAs({ buckets: null, blackbox: true, pairLimit: 20_000 });
  metrics.roundDone(round('gateway', { check: 'ping', votes: votes(ping) }));
  expect(await textOf(metrics)).toContain('probe_success{');
  metrics.showAs({ buckets: null, blackbox: true, pairLimit: 20_000 });
  expect(await textOf(metrics)).toContain('probe_success{');
  metrics.showAs({ buckets: null, blackbox: false, pairLimit: 20_000 });
  expect(await textOf(metrics)).not.toContain('probe_');
});

test('addresses and error texts are in no label', async () => {
  const metrics = testMetrics();
  metrics.targetsChanged([watched('shop')]);
  metrics.roundDone(round('shop', { votes: votes(measured, notUp('refused')) }));
  expect(await textOf(metrics)).not.toMatch(/192\.0\.2|it was/);
});

test('an incident is 1 while it is open; its rule is there at 0 before and after', async () => {
  const metrics = testMetrics();
  const series = 'watchpost_incident_active{target="shop",rule="down",severity="critical"}';
  metrics.targetsChanged([watched('shop')]);
  expect((await samples(metrics)).get(series)).toBe(0);
  metrics.incidentChanged({ target: 'shop', rule: 'down', severity: 'critical', active: true, suppressed: false });
  metrics.targetsChanged([watched('shop')]);
  expect((await samples(metrics)).get(series)).toBe(1);
  metrics.incidentChanged({ target: 'shop', rule: 'down', severity: 'critical', active: false, suppressed: false });
  expect((await samples(metrics)).get(series)).toBe(0);
});

test('a rule with another severity keeps its incident, a rule that is gone has no series', async () => {
  const metrics = testMetrics();
  metrics.targetsChanged([watched('shop')]);
  metrics.incidentChanged({ target: 'shop', rule: 'down', severity: 'critical', active: true, suppressed: false });
  metrics.targetsChanged([watched('shop', { rules: [{ name: 'down', severity: 'warning' }] })]);
  const changed = await textOf(metrics);
  expect(changed).toContain('watchpost_incident_active{target="shop",rule="down",severity="warning"} 1');
  expect(changed).not.toContain('severity="critical"');
  metrics.incidentChanged({ target: 'shop', rule: 'down', severity: 'critical', active: true, suppressed: true });
  metrics.incidentChanged({ target: 'shop', rule: 'slow', severity: 'info', active: true, suppressed: false });
  const own = (await textOf(metrics)).match(/^watchpost_incident_.*\}.*$/gm);
  expect(own).toEqual([
    'watchpost_incident_active{target="shop",rule="down",severity="critical"} 1',
    'watchpost_incident_active{target="shop",rule="slow",severity="info"} 1',
    'watchpost_incident_suppressed{target="shop",rule="down",severity="critical"} 1',
    'watchpost_incident_suppressed{target="shop",rule="slow",severity="info"} 0',
  ]);
  metrics.targetsChanged([watched('shop', { rules: [] })]);
  expect(await textOf(metrics)).not.toContain('watchpost_incident_active{');
});

test('rounds are on time, late or skipped, and their lag is never negative', async () => {
  const metrics = testMetrics();
  metrics.targetsChanged([watched('shop')]);
  for (const lagMs of [-5, 0, 1_000, 1_001]) metrics.roundDone(round('shop', { startedAt: startOfTest + lagMs }));
  metrics.roundsSkipped(3);
  const seen = await samples(metrics);
  expect(seen.get('watchpost_rounds_total{outcome="on_time"}')).toBe(3);
  expect(seen.get('watchpost_rounds_total{outcome="late"}')).toBe(1);
  expect(seen.get('watchpost_rounds_total{outcome="skipped"}')).toBe(3);
  expect(seen.get('watchpost_schedule_lag_seconds_sum')).toBeCloseTo(2.001);
  expect(seen.get('watchpost_schedule_lag_seconds_bucket{le="0.001"}')).toBe(2);
});

test('lag is measured where each check began, and a round is late by its latest check', async () => {
  const metrics = testMetrics();
  metrics.targetsChanged([watched('shop')]);
  const begun = votes(up(), up()).map((vote, index) => ({ ...vote, startedAt: startOfTest + [2_000, 30][index]! }));
  metrics.roundDone(round('shop', { startedAt: startOfTest, votes: begun }));
  const seen = await samples(metrics);
  expect(seen.get('watchpost_schedule_lag_seconds_sum')).toBeCloseTo(2.03);
  expect(seen.get('watchpost_schedule_lag_seconds_count')).toBe(2);
  expect(seen.get('watchpost_rounds_total{outcome="late"}')).toBe(1);
});

test('pending deliveries are asked for at the scrape, with the age of the oldest', async () => {
  const clock = new FakeClock();
  let rows = [{ channel: 'email', pending: 2, oldestAt: startOfTest as number | null }];
  const metrics = testMetrics({ deliveries: () => rows }, clock);
  await clock.advance(90_000);
  const before = await samples(metrics);
  expect(before.get('watchpost_deliveries_pending{channel="email"}')).toBe(2);
  expect(before.get('watchpost_deliveries_oldest_seconds{channel="email"}')).toBe(90);
  rows = [];
  const after = await samples(metrics);
  expect(after.get('watchpost_deliveries_pending{channel="email"}')).toBe(0);
  expect(after.get('watchpost_deliveries_oldest_seconds{channel="email"}')).toBe(0);
});

test('deliveries are counted by how they ended, and only the sent ones have a delay', async () => {
  const metrics = testMetrics();
  for (const state of ['pending', 'sent', 'merged', 'dead'] as const) {
    metrics.deliverySettled({ channel: 'email', state, createdAt: startOfTest, at: startOfTest + 4_000 });
  }
  const seen = await samples(metrics);
  for (const outcome of ['retry', 'sent', 'merged', 'dead']) {
    expect(seen.get(`watchpost_deliveries_total{channel="email",outcome="${outcome}"}`)).toBe(1);
  }
  expect(seen.get('watchpost_delivery_delay_seconds_count{channel="email"}')).toBe(1);
  expect(seen.get('watchpost_delivery_delay_seconds_sum{channel="email"}')).toBe(4);
});

test('each objective shows what it promises and what is left of its budget, as long as there is one', async () => {
  const day = 86_400_000;
  const shop = {
    target: 'shop',
    ratio: 0.999,
    overMs: 30 * day,
    allowedMs: 2_592_000,
    spentMs: 3_240_000,
    left: -0.25,
  };
  let budgets: readonly TargetBudgetLeft[] = [shop];
  const metrics = testMetrics({ budgets: () => budgets });
  const seen = await samples(metrics);
  expect(seen.get('watchpost_objective_ratio{target="shop"}')).toBe(0.999);
  expect(seen.get('watchpost_objective_period_seconds{target="shop"}')).toBe(2_592_000);
  expect(seen.get('watchpost_objective_budget_left_ratio{target="shop"}')).toBe(-0.25);
  budgets = [];
  expect(await textOf(metrics)).not.toContain('watchpost_objective_ratio{');
});

test('a source that fails costs its own figures only, and is counted', async () => {
  const broken = () => {
    throw new Error('database is closed');
  };
  const metrics = testMetrics({ deliveries: broken, store: broken, nodes: broken });
  metrics.targetsChanged([watched('shop')]);
  metrics.roundDone(round('shop', { votes: votes(measured, unknown()) }));
  const text = await textOf(metrics);
  expect(text).toContain('watchpost_check_last_duration_seconds{target="shop",check="http",node="zz1"} 0.25');
  expect(text).not.toContain('watchpost_deliveries_pending{');
  for (const source of ['deliveries', 'store', 'nodes']) {
    expect(text).toContain(`watchpost_metrics_source_failures_total{source="${source}"} 1`);
  }
});

test('a reload that fails is visible and keeps the time of the last good one', async () => {
  const metrics = testMetrics();
  metrics.configReloaded(true, startOfTest);
  metrics.configReloaded(false, startOfTest + 60_000);
  const seen = await samples(metrics);
  expect(seen.get('watchpost_config_last_reload_successful')).toBe(0);
  expect(seen.get('watchpost_config_last_reload_success_timestamp_seconds')).toBe(startOfTest / 1_000);
});

test('the process tells its version, CPU time, memory, start and the lateness of its main thread', async () => {
  const metrics = testMetrics({ lateness: () => ({ p50: 0.001, p99: 0.02, max: 0.3 }) });
  metrics.storeWritten(0.002);
  const seen = await samples(metrics);
  expect(seen.get(`watchpost_build_info{version="0.1.0",node_version="${process.versions.node}"}`)).toBe(1);
  expect(seen.get('watchpost_store_bytes')).toBe(4096);
  expect(seen.get('watchpost_store_write_seconds_count')).toBe(1);
  expect(seen.get('process_cpu_seconds_total')).toBeGreaterThan(0);
  expect(seen.get('process_resident_memory_bytes')).toBeGreaterThan(1e7);
  expect(seen.get('process_open_fds')).toBeGreaterThan(2);
  expect(seen.get('process_start_time_seconds')).toBeLessThan(startOfTest / 1_000);
  expect(seen.get('watchpost_eventloop_lag_seconds{stat="p50"}')).toBe(0.001);
  expect(seen.get('watchpost_eventloop_lag_seconds{stat="p99"}')).toBe(0.02);
  expect(seen.get('watchpost_eventloop_lag_seconds{stat="max"}')).toBe(0.3);
});
