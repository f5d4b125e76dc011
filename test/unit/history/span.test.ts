import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { cover, type RetentionLimits, partsOf, stepFor } from '#history/span.ts';
import { dayMs, hourMs } from '#kernel/units.ts';

const at = (text: string) => Date.parse(`2026-10-${text}Z`);

const kept: RetentionLimits = {
  daysUntil: at('20T00:00'),
  hoursUntil: at('20T07:00'),
  hoursFrom: at('05T00:00'),
  resultsFrom: at('10T03:00'),
  daysFrom: at('01T00:00'),
};

test.each([
  ['the last minutes', '20T07:30', '20T07:50', [['results', '20T07:30', '20T07:50']]],
  ['a part of a sealed hour', '20T05:10', '20T05:20', [['results', '20T05:10', '20T05:20']]],
  [
    'from within an hour until now',
    '20T05:10',
    '20T07:50',
    [
      ['results', '20T05:10', '20T06:00'],
      ['hours', '20T06:00', '20T07:00'],
      ['results', '20T07:00', '20T07:50'],
    ],
  ],
  [
    'days with hours and results around them',
    '11T22:30',
    '14T01:15',
    [
      ['results', '11T22:30', '11T23:00'],
      ['hours', '11T23:00', '12T00:00'],
      ['days', '12T00:00', '14T00:00'],
      ['hours', '14T00:00', '14T01:00'],
      ['results', '14T01:00', '14T01:15'],
    ],
  ],
  ['what results are gone for is widened to hours', '08T10:30', '08T11:30', [['hours', '08T10:00', '08T12:00']]],
  ['what hours are gone for is widened to days', '03T10:30', '03T11:30', [['days', '03T00:00', '04T00:00']]],
  ['an empty span', '08T10:30', '08T10:30', []],
])('reads %s', (_, from, to, pieces) => {
  const found = cover({ from: at(from), to: at(to) }, kept);
  expect(found).toEqual(pieces.map(([of, start, end]) => ({ of, from: at(start ?? ''), to: at(end ?? '') })));
});

const anyKept = fc
  .record({ resultsFrom: fc.nat(200), hoursFrom: fc.nat(200), hoursUntil: fc.nat(400), daysUntil: fc.nat(400) })
  .map(({ resultsFrom, hoursFrom, hoursUntil, daysUntil }): RetentionLimits => {
    const until = Math.max(hoursUntil, hoursFrom, resultsFrom);
    return {
      resultsFrom: Math.max(resultsFrom, hoursFrom) * hourMs,
      hoursFrom: hoursFrom * hourMs,
      hoursUntil: until * hourMs,
      daysUntil: Math.floor(Math.min(daysUntil, until) / 24) * dayMs,
      daysFrom: 0,
    };
  });

test('the pieces of any span follow each other, hold all of it, and no more than days at its edges', () => {
  const moment = fc.nat(500 * hourMs);
  fc.assert(
    fc.property(anyKept, moment, moment, (some, a, b) => {
      const span = { from: Math.min(a, b), to: Math.max(a, b) };
      const pieces = cover(span, some);
      fc.pre(span.from < span.to);
      expect(pieces[0]?.from).toBeLessThanOrEqual(span.from);
      expect(pieces[0]?.from).toBeGreaterThan(span.from - dayMs);
      expect(pieces.at(-1)?.to).toBeGreaterThanOrEqual(span.to);
      for (const [index, piece] of pieces.entries()) {
        expect(piece.to).toBeGreaterThan(piece.from);
        if (index > 0) expect(piece.from).toBe(pieces[index - 1]?.to);
        if (piece.of === 'days') expect(piece.to).toBeLessThanOrEqual(some.daysUntil);
        if (piece.of === 'hours') expect(piece.to).toBeLessThanOrEqual(some.hoursUntil);
        if (piece.of === 'results') expect(piece.from >= some.resultsFrom || piece.from >= some.hoursUntil).toBe(true);
      }
    }),
  );
});

test('a step cuts a span into no more parts than were asked for', () => {
  fc.assert(
    fc.property(
      fc.nat(800 * dayMs),
      fc.integer({ min: 1, max: 800 * dayMs }),
      fc.integer({ min: 3, max: 500 }),
      (from, ms, points) => {
        const span = { from, to: from + ms };
        const parts = partsOf(span, stepFor(span, points));
        expect(parts.length).toBeLessThanOrEqual(points);
        expect(parts[0]?.from).toBe(span.from);
        expect(parts.at(-1)?.to).toBe(span.to);
      },
    ),
  );
});
