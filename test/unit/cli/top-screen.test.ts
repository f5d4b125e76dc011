import { expect, test } from 'vitest';
import { firstView, screenOf, type TopState, tableOf, type TopView, viewAfter } from '#cli/top/top-screen.ts';

const now = Date.parse('2026-01-01T00:10:00Z');
const plain = (state: string, word = state) => word;

function state(target: string, more: Partial<TopState> = {}): TopState {
  const usual = { check: 'http', host: `https://${target}.example.com/`, since: '2026-01-01T00:00:00Z', seconds: 0.1 };
  return { target, ...usual, status: 'up', up: 1, nodes: 1, cause: null, ...more };
}

const states = [
  state('blog', { seconds: 0.3 }),
  state('shop', { status: 'down', cause: 'connection refused\u{1b}[2J', since: '2026-01-01T00:09:00Z', up: 0 }),
  state('zone', { status: 'unknown', since: null, seconds: null, up: 0 }),
];
const look = { states, view: firstView, columns: 80, rows: 24, now, trouble: null };
const pressed = (...keys: string[]) =>
  keys.reduce<TopView | null>((view, key) => view && viewAfter(view, key, 10), firstView);
const order = (view: Partial<TopView>) =>
  screenOf({ ...look, view: { ...firstView, ...view } }, plain)
    .slice(3, -1)
    .map((line) => line.split(' ')[0]);

test('what is bad stands first, with what the nodes said, and nothing of it moves the cursor', () => {
  const lines = screenOf(look, plain);
  expect(lines[0]).toBe('1 of 3 targets is up, 1 down, 1 unknown');
  expect(lines[3]).toMatch(/^shop +down +1m +100 ms +0\/1 +connection refused/);
  expect(lines.join('')).not.toContain('\u{1b}');
  expect(tableOf(states, now, plain).slice(0, 4)).toEqual(lines.slice(0, 4));
});

test('each key does what the last line says', () => {
  expect(order({})).toEqual(['shop', 'zone', 'blog']);
  expect(order({ sort: 'name' })).toEqual(['blog', 'shop', 'zone']);
  expect(order({ sort: 'time' })).toEqual(['blog', 'shop', 'zone']);
  expect(order({ sort: 'since' })).toEqual(['shop', 'blog', 'zone']);
  expect(order({ filter: 'not up' })).toEqual(['shop', 'zone']);
  expect(order({ text: 'EXAMPLE.com', filter: 'down' })).toEqual(['shop']);
  expect(pressed('s', 's', 's', 's')).toEqual(firstView);
  expect(pressed('f', 'f', 'f')).toEqual(firstView);
  expect(pressed('/', 'q', 's', '\u{7f}', '\r')).toMatchObject({ text: 'q', isTyping: false });
  expect(pressed('/', 'q', '\u{1b}')).toEqual(firstView);
  expect(pressed('k', 'j', '\u{1b}[B', ' ')).toMatchObject({ top: 12 });
  for (const key of ['q', '\u{3}', '\u{4}']) expect(pressed(key)).toBeNull();
});

test('no line is longer than the terminal is wide, and there are no more than it has', () => {
  const many = Array.from({ length: 100 }, (_, index) => state(`t${index}`));
  for (const [columns, rows] of [
    [80, 24],
    [20, 5],
    [3, 2],
  ] as const) {
    const lines = screenOf({ ...look, states: many, columns, rows, view: { ...firstView, top: 99 } }, plain);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
    expect(lines.length).toBeLessThanOrEqual(Math.max(rows, 5));
  }
});
