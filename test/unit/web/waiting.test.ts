import { expect, test } from 'vitest';
import type { Incident } from '#monitor/judge/incident.ts';
import { builtInLanguages, englishOf } from '#languages/languages.ts';
import { filtered, filterOf, firstRows, queryOf, viewOf } from '#web/pages/overview-filter.ts';
import { incidentsPart } from '#web/pages/open-incidents.ts';
import { overviewHead, overviewSentence, targetRow } from '#web/pages/overview.ts';
import { serviceOf, statusContent, statusTitle } from '#web/pages/status.ts';
import { statusJson } from '#web/pages/status-json.ts';
import { placeOf } from '#web/pages/status-place.ts';
import { createBoard, type LiveTarget } from '#web/state/board.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { incident, start } from '../../support/store.ts';
import { watchedShop } from '../../support/watched.ts';

const hour = 3_600_000;
const english = englishOf(builtInLanguages);
const place = placeOf({ page: 'status', domain: undefined, isOnDomain: false, requested: 'http://x', publicUrl: null });

function openBoard(incidents: readonly Incident[] = []) {
  const clock = new FakeClock(new Date(start).toISOString());
  const nextDue = (after: number) => Math.floor(after / hour) * hour + hour;
  const job = { ...watchedShop, name: 'backup', check: 'heartbeat' } as const;
  const watched = [{ ...watchedShop, nextDue }, { ...watchedShop, name: 'mail' }, job];
  const board = createBoard({ clock, watched: () => watched, openIncidents: () => incidents });
  const see = (name: string, status: 'up' | 'down') =>
    board.roundDone(name, { dueAt: start, votes: [], verdict: { status }, inMaintenance: false });
  return { board, clock, see };
}

const textOf = (markup: unknown) =>
  String(markup)
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();

test('a target that was never checked is waiting, and says when its first check is due', async () => {
  const { board, clock, see } = openBoard();
  const sentence = () => overviewSentence({ targets: board.targets(), now: clock.now() });
  const rows = () => board.targets().map((target) => textOf(targetRow(target, null, false)));
  expect(sentence()).toBe('All 3 targets wait for their first check.');
  expect(String(overviewHead({ targets: board.targets(), now: clock.now() }))).toContain('class="state waiting"');
  const at = `${new Date(Math.floor(start / hour) * hour + hour).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  expect(rows()).toEqual([
    `shop waiting shop:80 first check at ${at} –`,
    'mail waiting shop:80 no check is due –',
    'backup waiting shop:80 waits for its first ping –',
  ]);
  see('mail', 'up');
  expect(sentence()).toBe('1 of 3 targets is up; 2 waiting for a first check.');
  expect(String(overviewHead({ targets: board.targets(), now: clock.now() }))).toContain('class="state up"');
  see('backup', 'up');
  see('shop', 'up');
  expect(sentence()).toBe('All 3 targets are up.');
  expect(rows().join('\n')).not.toMatch(/waiting|first/);
});

test('the first check is still the first one while it runs', async () => {
  const { board, clock } = openBoard();
  const due = board.target('shop')?.firstDueAt ?? Number.NaN;
  await clock.advance(due + 5_000 - clock.now());
  expect(board.target('shop')?.firstDueAt).toBe(due);
  await clock.advance(30_000);
  expect(board.target('shop')?.firstDueAt).toBe(due + hour);
});

test('who waits stands between trouble and what is up, and can be filtered', () => {
  const { board, see } = openBoard();
  see('backup', 'up');
  see('mail', 'down');
  const shown = (query: object) => filtered(board.targets(), filterOf(query), () => null).map(({ name }) => name);
  expect(shown({})).toEqual(['mail', 'shop', 'backup']);
  expect(shown({ state: 'waiting' })).toEqual(['shop']);
  expect(shown({ state: 'unknown' })).toEqual([]);
  expect(queryOf(filterOf({ view: 'wall', q: 'a&b', state: '', label: ['x'], other: 'y' }))).toBe('view=wall&q=a%26b');
});

test('rows are sorted by name, uptime or latency, and what is not known comes last', () => {
  const { board } = openBoard();
  const seen = (name: string, recent: LiveTarget['recent']) => ({ ...board.target(name), name, recent }) as LiveTarget;
  const uptimes: Readonly<Record<string, number>> = { backup: 1, mail: 0.099 };
  const pastOf = ({ name }: LiveTarget) => ({ uptime: uptimes[name] ?? null });
  const targets = [seen('shop', [0.02, 1.5, null]), seen('backup', [9, 0.2]), seen('mail', [null])];
  const shown = (query: object) => filtered(targets, filterOf(query), pastOf).map(({ name }) => name);
  expect(shown({ sort: 'name' })).toEqual(['backup', 'mail', 'shop']);
  expect(shown({ sort: 'uptime' })).toEqual(['mail', 'backup', 'shop']);
  expect(shown({ sort: 'latency' })).toEqual(['shop', 'backup', 'mail']);
  expect(shown({ sort: 'latency', view: 'wall' })).toEqual(shown({}));
  expect(queryOf(filterOf({ sort: 'uptime', q: 'a' }))).toBe('sort=uptime&q=a');
  expect(filterOf({ sort: 'size' }).sort).toBe('');
});

test('a long list begins with its first rows, and a few more are no reason to cut it', () => {
  const many = (count: number) => Array.from({ length: count }, () => openBoard().board.targets()[0] as LiveTarget);
  const rowsOf = (count: number, query: object) => firstRows(many(count), filterOf(query)).length;
  expect(rowsOf(120, {})).toBe(120);
  expect(rowsOf(121, {})).toBe(100);
  expect(rowsOf(146, { group: 'team' })).toBe(100);
  expect(rowsOf(146, { rows: 'all' })).toBe(146);
  expect(rowsOf(146, { view: 'wall' })).toBe(146);
  expect(rowsOf(146, { rows: '7' })).toBe(100);
  // The events of a page are about all of them.
  expect(viewOf(filterOf({ rows: 'all', q: 'a' }))).toBe('q=a');
});

test('a status page does not call it trouble that a service was never checked', () => {
  const { board, see } = openBoard();
  const value = () => ({
    title: 'Example',
    services: ['shop', 'mail'].map((name) => serviceOf(name, name, board.target(name) ?? undefined, null)),
    notes: [],
    maintenance: [],
    groups: [],
    outages: [],
    pastNotes: [],
    now: start,
  });
  expect(statusTitle(value(), english)).toBe('Example: Nothing is known yet: no check has been done.');
  const never = { days: [null], downMs: [0], uptime: null, since: null, knownMs: null, budgetLeft: null };
  const services = [serviceOf('Web', 'shop', board.target('shop') ?? undefined, never)];
  expect(textOf(statusContent({ ...value(), services }, english, place))).toContain('nothing is known yet');
  expect(statusJson(value())).toMatchObject({ status: 'unknown', services: [{ status: 'unknown' }, {}] });
  see('mail', 'up');
  expect(statusTitle(value(), english)).toBe('Example: All services are working.');
  expect(statusJson(value()).status).toBe('up');
});

test('services of one name are shown each', () => {
  const services = ['shop', 'mail'].map((target) => serviceOf('Web', target, undefined, null));
  const value = {
    title: 'Example',
    services,
    notes: [],
    maintenance: [],
    groups: [],
    outages: [],
    pastNotes: [],
    now: start,
  };
  const page = String(statusContent(value, english, place));
  expect(page.match(/<h2>Web<\/h2>/g)).toHaveLength(2);
  expect([...page.matchAll(/data-part="(s-[^"]*)"/g)].map(([, part]) => part)).toEqual(['s-0', 's-1']);
});

test.for([
  { word: 'DOWN', looks: 'down', isMild: false },
  { word: 'UNKNOWN', looks: 'unknown', isMild: true },
  { word: 'SLOW', looks: 'warning', isMild: true },
  { word: 'LOSS', looks: 'warning', isMild: true },
  { word: 'CERTIFICATE', looks: 'warning', isMild: true },
])('$word looks like $looks', ({ word, looks, isMild }) => {
  const plain = incident('shop', start);
  const open = [{ ...plain, wording: { ...plain.wording, word } }];
  const { board, see } = openBoard(open);
  see('shop', 'up');
  const part = String(incidentsPart({ incidents: open }));
  expect(part).toContain(`<span class="state ${looks}">${word} </span>`);
  expect(part.includes('open mild')).toBe(isMild);
  const row = String(targetRow(board.target('shop') as LiveTarget, null, false));
  expect(row.includes(`<span class="state warning small">${word}</span>`)).toBe(looks === 'warning');
});
