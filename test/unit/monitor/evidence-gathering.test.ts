import { expect, test } from 'vitest';
import type { EvidenceDocument } from '#checks/index.ts';
import type { EvidenceStore, GatheredEvidence, GoodEvidence } from '#history/evidence.ts';
import { createEvidenceCollector } from '#monitor/evidence/gathering.ts';
import type { GatheringRequest, GatheringResult } from '#monitor/evidence/gatherer.ts';
import { createSharedCauses } from '#monitor/evidence/shared-causes.ts';
import type { Incident, VoteLine } from '#monitor/judge/incident.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { target } from '../../support/scenario.ts';
import { incident as storedIncident } from '../../support/store.ts';
import { nodeInfo, notUp, up } from '../../support/votes.ts';

const nothing: EvidenceDocument = {
  path: null,
  names: null,
  tls: null,
  response: null,
  received: null,
  uplink: null,
  missing: [],
};

function memoryEvidence() {
  const byIncident = new Map<string, GatheredEvidence[]>();
  const good = new Map<string, GoodEvidence>();
  const store: EvidenceStore = {
    evidenceOf: (id) => byIncident.get(id) ?? [],
    addEvidence: (id, all) => void byIncident.set(id, [...(byIncident.get(id) ?? []), ...all]),
    goodEvidence: (name, node) => good.get(`${name} ${node}`) ?? null,
    goodEvidenceTimes: () => [],
    saveGoodEvidence: (name, node, one) => void good.set(`${name} ${node}`, one),
  };
  return { store, good };
}

const line = (node: string, status: 'up' | 'down', address: string | null = null): VoteLine => ({
  node,
  place: '',
  status,
  seconds: null,
  address,
  source: null,
  code: status === 'down' ? 'refused' : null,
  message: null,
});

interface Setup {
  readonly memory?: ReturnType<typeof memoryEvidence>;
  readonly gather?: (request: GatheringRequest, signal: AbortSignal) => Promise<GatheringResult>;
  readonly count?: number;
}

function start({ memory = memoryEvidence(), gather, count = 1 }: Setup = {}) {
  const clock = new FakeClock();
  const { log, lines } = memoryLog();
  const names = Array.from({ length: count }, (_, index) => `t${index}`);
  const asked: string[] = [];
  const seen = new Map(names.map((name) => [name, [line('de1', 'down'), line('us1', 'up')]]));
  const engine = createEvidenceCollector({
    settings: () => ({
      isEnabled: () => true,
      lastGood: true,
      targetOf: (name) => (names.includes(name) ? target(name) : null),
    }),
    gatherer: {
      nodes: () => ['de1', 'us1'],
      async gather(request, signal) {
        asked.push(`${request.spec.host} ${request.node}`);
        return gather === undefined ? { document: nothing } : gather(request, signal);
      },
    },
    store: memory.store,
    sharedCauses: createSharedCauses(),
    seenNow: (name) => seen.get(name) ?? [],
    openIncidents: () => [],
    onGathered: () => {},
    clock,
    log,
  });
  const opened = (name: string, address: string | null = null): Incident => ({
    ...storedIncident(name, clock.now()),
    votes: [line('de1', 'down', address), line('us1', 'up')],
  });
  return { clock, lines, names, asked, engine, memory, opened };
}

test('an incident is looked at once, however often it changes, and after a restart not again', async () => {
  const { clock, engine, asked, memory, opened } = start();
  const one = opened('t0');
  engine.incidentsChanged([one]);
  await clock.advance(1_500);
  engine.incidentsChanged([{ ...one, acknowledged: { at: clock.now(), why: 'known' } }]);
  await clock.advance(60_000);
  expect(asked).toEqual(['t0.example.com:443 de1', 't0.example.com:443 us1']);
  await engine[Symbol.asyncDispose]();

  const again = start({ memory });
  again.engine.incidentsChanged([one]);
  await again.clock.advance(60_000);
  expect(again.asked).toEqual([]);
});

test('what is under way when the program stops is not stored, and the stop does not wait for it', async () => {
  const hanging = async (_: GatheringRequest, signal: AbortSignal) =>
    new Promise<GatheringResult>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
  const { clock, engine, memory, opened, lines } = start({ gather: hanging });
  const one = opened('t0');
  engine.incidentsChanged([one]);
  await clock.advance(1_500);
  await engine[Symbol.asyncDispose]();
  expect(memory.store.evidenceOf(one.id)).toEqual([]);
  expect(lines).toEqual([]);
});

test('of sixty targets that fail together five are looked at, and the others say why not', async () => {
  const { clock, engine, asked, memory, names, opened } = start({ count: 60 });
  const all = names.map((name, index) => opened(name, index < 57 ? '192.0.2.1' : `198.51.${index}.1`));
  engine.incidentsChanged(all);
  await clock.advance(5_000);
  expect(new Set(asked.map((one) => one.split('.')[0]))).toEqual(new Set(['t0', 't1', 't57', 't58', 't59']));
  const [left] = memory.store.evidenceOf(all[30]?.id ?? '');
  expect(left).toMatchObject({ node: '', document: null });
  expect(left?.note).toContain('60 targets fail together');
});

test('a node that gathers two already has the third wait, until one is done', async () => {
  const waiting: (() => void)[] = [];
  const slow = async () =>
    new Promise<GatheringResult>((resolve) => waiting.push(() => resolve({ document: nothing })));
  const { clock, engine, asked, names, opened } = start({ count: 12, gather: slow });
  engine.incidentsChanged(names.map((name) => opened(name)));
  await clock.advance(1_500);
  expect(asked).toHaveLength(4);
  for (const done of waiting.splice(0)) done();
  await clock.advance(500);
  expect(asked).toHaveLength(8);
});

test('networks take turns', async () => {
  const { clock, engine, asked, names, opened } = start({ count: 8 });
  engine.incidentsChanged(names.map((name, index) => opened(name, index < 6 ? '192.0.2.1' : `198.51.${index}.1`)));
  await clock.advance(1_050);
  expect(asked.filter((one) => one.endsWith('de1')).map((one) => one.split('.')[0])).toEqual(['t0', 't6']);
  await clock.advance(150);
  expect(
    asked
      .filter((one) => one.endsWith('de1'))
      .map((one) => one.split('.')[0])
      .slice(0, 4),
  ).toEqual(['t0', 't6', 't7', 't1']);
});

test('a failure of ours is logged once for an incident', async () => {
  const { clock, engine, lines, opened } = start({
    gather: async () => {
      throw new Error('no way');
    },
  });
  const one = opened('t0');
  engine.incidentsChanged([one]);
  await clock.advance(3_000);
  engine.roundDone(target('t0'), [{ node: nodeInfo('de1'), outcome: notUp('timeout') }], false);
  await clock.advance(3_000);
  expect(lines.map(({ msg }) => msg)).toEqual(['cannot gather evidence']);
});

test('healthy targets are looked at one at a time and once a day at each node', async () => {
  const { clock, engine, asked, memory } = start({ count: 2 });
  const votes = ['de1', 'us1'].map((node) => ({ node: nodeInfo(node), outcome: up(0.1) }));
  for (let round = 0; round < 10; round += 1) {
    for (const name of ['t0', 't1']) engine.roundDone(target(name), votes, true);
    await clock.advance(10_000);
  }
  expect(asked.toSorted()).toEqual([
    't0.example.com:443 de1',
    't0.example.com:443 us1',
    't1.example.com:443 de1',
    't1.example.com:443 us1',
  ]);
  expect(memory.good.size).toBe(4);
});

test('an outage that is over before a node has a place for it is not looked at, and the next one is', async () => {
  const { promise: free, resolve: release } = Promise.withResolvers<void>();
  const gather = async ({ spec }: GatheringRequest): Promise<GatheringResult> => {
    if (spec.host.startsWith('t0') || spec.host.startsWith('t1')) await free;
    return { document: nothing };
  };
  const { clock, engine, asked, memory, opened } = start({ count: 3, gather });
  engine.incidentsChanged([opened('t0'), opened('t1')]);
  await clock.advance(5_000);
  const short = opened('t2');
  engine.incidentsChanged([short]);
  await clock.advance(5_000);
  engine.incidentsChanged([{ ...short, endedAt: clock.now(), closing: 'recovered', closingVotes: [] }]);
  await clock.advance(1_000);
  const next = { ...opened('t2'), id: 'another' };
  engine.incidentsChanged([next]);
  release();
  await clock.advance(10_000);
  expect(asked.filter((line) => line.startsWith('t2'))).toHaveLength(2);
  expect(memory.store.evidenceOf(short.id)).toEqual([]);
  expect(memory.store.evidenceOf(next.id)).toMatchObject([{ occasion: 'opened' }, { occasion: 'opened' }]);
});

test.each([3_600_000, -3_600_000])(
  'a clock that is set by %i ms while it waits makes no incident old',
  async (byMs) => {
    const { clock, engine, asked, opened } = start();
    engine.incidentsChanged([opened('t0')]);
    await clock.advance(500);
    clock.step(byMs);
    await clock.advance(5_000);
    expect(asked).toHaveLength(2);
  },
);
