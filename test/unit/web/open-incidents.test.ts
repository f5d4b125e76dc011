import { expect, test } from 'vitest';
import type { Incident } from '#monitor/judge/incident.ts';
import { incidentsPart } from '#web/pages/open-incidents.ts';
import { shopDown } from '../../support/incidents.ts';
import { start } from '../../support/store.ts';

const minute = 60_000;

const open = (target: string, more: Partial<Incident> = {}): Incident => ({
  ...shopDown,
  acknowledged: null,
  held: null,
  laterCauses: [],
  id: `${target}/down/1`,
  target,
  startedAt: start - minute,
  endedAt: null,
  ...more,
});

const linesOf = (incidents: readonly Incident[]) => {
  const text = String(incidentsPart({ incidents }));
  const [shown = '', folded = ''] = text.split('<details>');
  const items = (markup: string) =>
    [...markup.matchAll(/<li>(.*?)<\/li>/gs)].map(([, item = '']) => item.replaceAll(/<[^>]*>/g, '').trim());
  return { shown: items(shown), folded: items(folded), text };
};

test('incidents with one word and cause share a line', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  const { shown, folded } = linesOf([
    ...names.map((name) => open(name, { cause: 'connection refused' })),
    open('other', { cause: 'timeout' }),
  ]);
  expect(shown).toHaveLength(2);
  expect(shown[0]).toMatch(/^DOWN a, DOWN b, DOWN c, DOWN d, DOWN e, DOWN f and 2 more: connection refused/);
  expect(shown[1]).toMatch(/^DOWN other: timeout/);
  expect(folded).toEqual([]);
});

test('the worst five lines are shown, critical ones first, known ones last, and the others are folded', () => {
  const held = { by: 'dependency', why: 'router is down' } as const;
  const { shown, folded, text } = linesOf([
    open('slow', { cause: 'x1', severity: 'warning' }),
    open('known', { cause: 'x2', acknowledged: { at: start, why: 'on it' } }),
    open('below', { cause: 'x3', held }),
    open('old', { cause: 'x4', startedAt: start - 60 * minute }),
    open('new', { cause: 'x5' }),
    open('two', { cause: 'x6', startedAt: start - 2 * minute }),
    open('info', { cause: 'x7', severity: 'info' }),
  ]);
  const names = (lines: readonly string[]) => lines.map((line) => /^DOWN (\w+)/.exec(line)?.[1]);
  expect(names(shown)).toEqual(['new', 'two', 'old', 'slow', 'info']);
  expect(names(folded)).toEqual(['known', 'below']);
  expect(text).toContain('<summary>2 more</summary>');
});

test('an incident about Watchpost itself is named as in messages', () => {
  const wording = { ...shopDown.wording, word: 'OVERLOADED' };
  const { shown } = linesOf([open('own overload', { wording, cause: '812 rounds left out' })]);
  expect(shown).toEqual([expect.stringMatching(/^OVERLOADED Watchpost: 812 rounds left out/)]);
});

test('without incidents there is nothing', () => {
  expect(linesOf([]).shown).toEqual([]);
});
