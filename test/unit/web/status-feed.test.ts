import { expect, test } from 'vitest';
import { builtInLanguages, englishOf } from '#languages/languages.ts';
import { dayMs, hourMs } from '#kernel/units.ts';
import { feedOf } from '#web/pages/status-feed.ts';
import { placeOf } from '#web/pages/status-place.ts';
import type { StatusValue } from '#web/pages/status.ts';

const english = englishOf(builtInLanguages);
const now = Date.parse('2026-03-02T12:00:00Z');
const place = placeOf({ page: 'status', domain: undefined, isOnDomain: false, requested: 'http://x', publicUrl: null });

const quiet: StatusValue = {
  title: 'Example',
  services: [{ name: 'Web shop', target: 'shop', status: 'up', since: now - hourMs, past: null, incidents: [] }],
  notes: [],
  pastNotes: [],
  maintenance: [],
  groups: [],
  outages: [],
  now,
};

const updatedOf = (value: StatusValue) =>
  Date.parse(/<\/title><updated>([^<]*)<\/updated><author>/.exec(feedOf(value, english, place))?.[1] ?? '');

test('the time of a feed does not go back when a service works again or a note is over', () => {
  const from = now - 2 * hourMs;
  const [shop = expect.unreachable()] = quiet.services;
  const down: StatusValue = {
    ...quiet,
    services: [{ ...shop, status: 'down', since: from }],
    outages: [{ service: 'Web shop', from, to: null }],
  };
  expect(updatedOf(down)).toBe(from);
  expect(updatedOf({ ...quiet, outages: [{ service: 'Web shop', from, to: now - hourMs }] })).toBe(now - hourMs);
  const note = { id: 'a', page: 'status', words: 'Slow.', createdAt: from, thread: null, stage: null, targets: [] };
  expect(updatedOf({ ...quiet, notes: [{ ...note, endsAt: null }] })).toBe(from);
  expect(updatedOf({ ...quiet, pastNotes: [{ ...note, endsAt: now - hourMs }] })).toBe(now - hourMs);
});

test('the feed of a page on which nothing happened does not look as if it was left in 1970', () => {
  expect(updatedOf(quiet)).toBeGreaterThan(now - 16 * dayMs);
  expect(updatedOf({ ...quiet, now: now + 5_000 })).toBe(updatedOf(quiet));
});
