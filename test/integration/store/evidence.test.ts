import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import type { EvidenceDocument } from '#checks/index.ts';
import { evidenceInWords, type GatheredEvidence } from '#history/evidence.ts';
import { dayMs } from '#kernel/units.ts';
import { keptByDefault } from '#store/sealing/forget.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { incident, openAt, round, start, tempFolder } from '../../support/store.ts';

const document = (text = 'hello'): EvidenceDocument => ({
  path: null,
  names: null,
  tls: null,
  response: { status: '503 Gone Away', headers: [['x', text]], body: text, bodyBytes: 5, redirects: [], failure: null },
  received: null,
  uplink: null,
  missing: [{ part: 'path', reason: 'no time' }],
});

const gathered = (at: number, changes: Partial<GatheredEvidence> = {}): GatheredEvidence => ({
  at,
  occasion: 'opened',
  node: 'de1',
  isFailing: true,
  failure: 'refused',
  document: document(),
  lastGood: { at: start - dayMs, document: document('before') },
  note: null,
  ...changes,
});

// Text that does not get smaller.
const noise = (bytes: number) =>
  randomBytes(bytes)
    .toString('latin1')
    .replaceAll(/[^\x20-\x7e]/g, 'é');

async function withIncident() {
  const folder = tempFolder();
  const path = join(folder.path, 'watchpost.db');
  const clock = new FakeClock(new Date(start).toISOString());
  const store = openAt(path, clock, { retention: { ...keptByDefault, incidentsMs: 10 * dayMs } });
  const open = incident('shop', start);
  await store.record(round('shop', start, { incidents: [open] }));
  return { folder, path, clock, store, open };
}

test('evidence is stored with its incident, and is there after a restart and in the incident of the reader', async () => {
  const { folder, path, clock, store, open } = await withIncident();
  using _ = folder;
  const all = [gathered(start), gathered(start, { node: 'us1', isFailing: false, failure: null, lastGood: null })];
  store.addEvidence(open.id, all);
  expect(store.evidenceOf(open.id)).toEqual(all);
  expect(store.history.incident(open.id)?.evidence).toEqual(all);
  await store.close();
  await using again = openAt(path, clock);
  expect(again.evidenceOf(open.id)).toEqual(all);
  // The same gathering again is the same.
  again.addEvidence(open.id, all);
  expect(again.evidenceOf(open.id)).toHaveLength(2);
});

test('a document that is too long is left out with a note, and what it is compared with before', async () => {
  const { folder, store, open } = await withIncident();
  using _ = folder;
  const long = { at: start, document: document(noise(200_000)) };
  store.addEvidence(open.id, [
    gathered(start, { lastGood: long }),
    gathered(start, { node: 'us1', document: long.document }),
  ]);
  const [first, second] = store.evidenceOf(open.id);
  expect(first).toEqual(gathered(start, { lastGood: null }));
  expect(second).toMatchObject({ document: null, lastGood: null, note: 'was longer than 64 KiB' });
  await store.close();
});

test('of more than a MiB for one incident the oldest goes, but not what was gathered first', async () => {
  const { folder, store, open } = await withIncident();
  using _ = folder;
  const times = Array.from({ length: 30 }, (_one, index) => start + index * 60_000);
  for (const at of times)
    store.addEvidence(open.id, [gathered(at, { document: document(noise(40_000)), lastGood: null })]);
  const left = store.evidenceOf(open.id).map(({ at }) => at);
  expect(left.length).toBeLessThan(30);
  expect(left[0]).toBe(start);
  expect(left.slice(1)).toEqual(times.slice(-(left.length - 1)));
  await store.close();
});

test('evidence goes with its incident', async () => {
  const { folder, clock, store, open } = await withIncident();
  using _ = folder;
  store.addEvidence(open.id, [gathered(start)]);
  await clock.advance(1_000);
  await store.record(
    round('shop', start + 1_000, { incidents: [{ ...open, endedAt: start + 1_000, closing: 'recovered' }] }),
  );
  await clock.advance(20 * dayMs);
  for (let steps = 0; steps < 1_000 && store.upkeep(); steps += 1);
  expect(store.history.incident(open.id)).toBeNull();
  expect(store.evidenceOf(open.id)).toEqual([]);
  await store.close();
});

test('what was gathered when all was well is kept once for each target and node', async () => {
  const { folder, store } = await withIncident();
  using _ = folder;
  store.saveGoodEvidence('shop', 'de1', { at: start, document: document('old') });
  store.saveGoodEvidence('shop', 'de1', { at: start + dayMs, document: document('new') });
  expect(store.goodEvidence('shop', 'de1')).toEqual({ at: start + dayMs, document: document('new') });
  expect(store.goodEvidence('shop', 'us1')).toBeNull();
  store.saveGoodEvidence('blog', 'de1', { at: start + 40 * dayMs, document: document() });
  expect(store.goodEvidenceTimes()).toEqual([{ target: 'blog', node: 'de1', at: start + 40 * dayMs }]);
  await store.close();
});

test('messages state what the newest gathering with a conclusion shows, and else why nothing was gathered', () => {
  const note = gathered(start, { node: '', document: null, note: 'sixty targets fail together' });
  expect(evidenceInWords([])).toEqual([]);
  expect(evidenceInWords([note])).toEqual(['sixty targets fail together']);
  const refusing = gathered(start, {
    document: {
      ...document(),
      response: null,
      path: {
        protocol: 'tcp',
        port: 443,
        address: '192.0.2.1',
        family: 4,
        hops: [{ hop: 1, probes: [{ address: '192.0.2.1', seconds: 0.001, kind: 'refused' }] }],
        end: 'reached',
        mtu: null,
      },
    },
  });
  const words = evidenceInWords([refusing]);
  expect(words).toHaveLength(1);
  expect(words[0]).toContain('refuses TCP port 443');
  const later = gathered(start + 60_000, { occasion: 'ended', isFailing: false });
  expect(evidenceInWords([refusing, later])).toEqual(words);
});
