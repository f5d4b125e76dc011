import { expect, test } from 'vitest';
import type { Outcome } from '#checks/index.ts';
import { type TargetChange, type ChangeStore, createChangeKeeper } from '#history/changes.ts';

const noon = Date.parse('2026-01-01T12:00:00Z');

function memory(known: readonly TargetChange[] = []) {
  const all = [...known];
  const store: ChangeStore = {
    newestChanges: () => all,
    changesOf: (target) => all.filter((change) => change.target === target).toReversed(),
    addChanges: (changes) => void all.push(...changes),
  };
  return { all, store };
}

const fail = (error: unknown) => {
  throw error;
};

function dnsVote(node: string, ...addresses: readonly string[]) {
  const records = addresses.map((data) => ({ type: 'A', data, ttl: 60 }));
  const outcome: Outcome = { status: 'up', seconds: 0.01, address: null, phases: {}, facts: {}, detail: { records } };
  return { node: { name: node }, outcome };
}

function httpVote(fingerprint: string) {
  const detail = { certificate: { fingerprint } };
  const outcome: Outcome = { status: 'up', seconds: 0.01, address: null, phases: {}, facts: {}, detail };
  return { node: { name: 'de1' }, outcome };
}

test('answers are noted by node when they are others than before, in whatever order they come', () => {
  const { all, store } = memory();
  const keeper = createChangeKeeper(store, fail);
  keeper.roundDone('name', 'dns', noon, [dnsVote('de1', '192.0.2.1', '192.0.2.2'), dnsVote('us1', '192.0.2.9')]);
  keeper.roundDone('name', 'dns', noon + 1, [dnsVote('de1', '192.0.2.2', '192.0.2.1'), dnsVote('us1', '192.0.2.9')]);
  keeper.roundDone('name', 'dns', noon + 2, [dnsVote('de1', '192.0.2.3'), dnsVote('us1', '192.0.2.9')]);
  expect(all.map(({ node, at, value }) => [node, at - noon, value])).toEqual([
    ['de1', 0, 'A 192.0.2.1\nA 192.0.2.2'],
    ['us1', 0, 'A 192.0.2.9'],
    ['de1', 2, 'A 192.0.2.3'],
  ]);
});

test('a certificate is noted when it is another one, and what was known before the start is not noted again', () => {
  const before = memory();
  createChangeKeeper(before.store, fail).roundDone('shop', 'http', noon, [httpVote('AA')]);
  const { all, store } = memory(before.all);
  const keeper = createChangeKeeper(store, fail);
  keeper.roundDone('shop', 'http', noon + 1, [httpVote('AA')]);
  expect(all).toHaveLength(1);
  keeper.roundDone('shop', 'http', noon + 2, [httpVote('BB')]);
  expect(all.map(({ kind, value }) => [kind, JSON.parse(value)])).toEqual([
    ['certificate', { fingerprint: 'AA' }],
    ['certificate', { fingerprint: 'BB' }],
  ]);
});

test('a target that was taken out and comes back goes on with what is stored of it', () => {
  const { all, store } = memory();
  let looked = 0;
  const changesOf = (target: string) => {
    looked += 1;
    return store.changesOf(target);
  };
  const keeper = createChangeKeeper({ ...store, changesOf }, fail);
  for (const seen of ['AA', 'BB', 'BB']) keeper.roundDone('shop', 'http', noon, [httpVote(seen)]);
  expect(looked).toBe(1);
  keeper.forget('shop');
  for (const seen of ['BB', 'CC']) keeper.roundDone('shop', 'http', noon + 1, [httpVote(seen)]);
  expect(looked).toBe(2);
  expect(all.map(({ value }) => JSON.parse(value).fingerprint)).toEqual(['AA', 'BB', 'CC']);
});

test('a change that could not be stored is told, and noted by the next round', () => {
  const { all, store } = memory();
  let isAway = true;
  const told: unknown[] = [];
  const addChanges = (changes: readonly TargetChange[]) => {
    if (isAway) throw new Error('away');
    store.addChanges(changes);
  };
  const keeper = createChangeKeeper({ ...store, addChanges }, (error) => told.push(error));
  keeper.roundDone('shop', 'http', noon, [httpVote('AA')]);
  isAway = false;
  keeper.roundDone('shop', 'http', noon + 1, [httpVote('AA')]);
  expect([told.length, all.map(({ at }) => at - noon)]).toEqual([1, [1]]);
});
