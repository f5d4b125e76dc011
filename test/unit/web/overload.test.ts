import { expect, test } from 'vitest';
import { shownOverload, watchOverload } from '#compose/shown-overload.ts';
import { overviewEvents } from '#web/live/events.ts';
import { html } from '#web/pages/markup.ts';
import { noOverload, overloadPart, type ShownOverload } from '#web/pages/overload.ts';
import { createBoard } from '#web/state/board.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const minute = 60_000;
const textOf = (overload: ShownOverload) =>
  String(overloadPart(overload))
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();

test.each([
  { overload: noOverload, says: '' },
  {
    overload: { isOfHub: true, nodes: [] },
    says: 'Watchpost is overloaded: it leaves out results of targets that are up, so what is shown of them may be old. Outages are still reported. What to do',
  },
  {
    overload: { isOfHub: false, nodes: ['de1'] },
    says: 'Node de1 is overloaded and checks less often than configured. What to do',
  },
  {
    overload: { isOfHub: false, nodes: ['a', 'b', 'c', 'd', 'e'] },
    says: 'Nodes a, b, c and 2 more are overloaded and check less often than configured. What to do',
  },
])('pages say in words what is overloaded: $overload', ({ overload, says }) => {
  expect(textOf(overload)).toBe(says);
});

function world() {
  const clock = new FakeClock();
  const board = createBoard({ clock, watched: () => [], openIncidents: () => [] });
  let reason: string | null = null;
  let nodes: { readonly node: string; readonly checks: number }[] = [];
  const read = () => shownOverload({ overload: () => reason, overloadedNodes: () => nodes });
  const watching = watchOverload(read, clock, () => board.touch());
  const { since } = overviewEvents({
    board,
    past: { of: () => null },
    map: () => html`<div data-part="map"></div>`,
    reload: () => null,
    overload: read,
    clock,
  });
  const start = board.version;
  since(start, '', 'next');
  let sent = start;
  return {
    clock,
    board,
    watching,
    set: (hub: string | null, ofNodes: typeof nodes = []) => void ([reason, nodes] = [hub, ofNodes]),
    /** The part as all viewers get it, if they do. */
    next: (): unknown => {
      const events = since(sent, '', 'next');
      sent = board.version;
      return partIn(events);
    },
    /** A page is followed from now on; none was. */
    follow: () => void (sent = board.version),
    missing: (version: number) => partIn(since(version, '', 'missing')),
  };
}

const partIn = ([event]: readonly { readonly data: unknown }[]): unknown =>
  (event?.data as { readonly parts?: Readonly<Record<string, string>> } | undefined)?.parts?.['overload'];

test('the overview says at once that the hub leaves out results, though no round comes, and no longer when it is over', async () => {
  const { clock, set, next, watching } = world();
  set('812 rounds left out');
  await clock.advance(1_000);
  expect(next()).toContain('Watchpost is overloaded');
  // Other numbers are no news.
  set('813 rounds left out');
  await clock.advance(minute);
  expect(next()).toBeUndefined();
  set(null);
  await clock.advance(1_000);
  expect(next()).toBe('<div data-part="overload"></div>');
  watching[Symbol.dispose]();
});

test('the same nodes are no news, whichever of them left out more', async () => {
  const { clock, board, set, watching } = world();
  set(null, [
    { node: 'us1', checks: 9 },
    { node: 'de1', checks: 2 },
  ]);
  await clock.advance(1_000);
  const { version } = board;
  set(null, [
    { node: 'de1', checks: 11 },
    { node: 'us1', checks: 9 },
  ]);
  await clock.advance(minute);
  expect(board.version).toBe(version);
  watching[Symbol.dispose]();
  set('812 rounds left out');
  await clock.advance(minute);
  expect(board.version).toBe(version);
});

test('a page that was drawn while the hub was overloaded, and is followed later, hears that it is over', async () => {
  const { clock, board, set, missing, watching } = world();
  set('812 rounds left out');
  await clock.advance(1_000);
  const drawnAt = board.version;
  expect(missing(drawnAt)).toBeUndefined();
  set(null);
  await clock.advance(1_000);
  expect(missing(drawnAt)).toBe('<div data-part="overload"></div>');
  watching[Symbol.dispose]();
});

test('a page that was drawn while none was followed hears that it is over, if it follows before that', async () => {
  const { clock, board, set, next, follow, watching } = world();
  set('812 rounds left out');
  await clock.advance(1_000);
  follow();
  set(null);
  await clock.advance(1_000);
  expect(next()).toBe('<div data-part="overload"></div>');
  // Those who followed have all of it.
  board.touch();
  expect(next()).toBeUndefined();
  watching[Symbol.dispose]();
});
