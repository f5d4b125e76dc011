import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { possible, shifted, zoomed } from '../../../src/web/browser/view.ts';

const hour = 3_600;
const now = 1_800_000_000;
const view = { from: now - 4 * hour, to: now };

test('zooming keeps what is under the pointer where it is', () => {
  expect(zoomed(view, 0.5, 0.5)).toEqual({ from: now - 3 * hour, to: now - hour });
  expect(zoomed(view, 0.5, 0)).toEqual({ from: now - 4 * hour, to: now - 2 * hour });
  expect(shifted(view, -0.25)).toEqual({ from: now - 5 * hour, to: now - hour });
});

test('however one zooms and moves, a span has from ten minutes to two years and ends now at the latest', () => {
  const span = fc.tuple(fc.integer({ min: 0, max: now }), fc.integer({ min: 1, max: 100_000_000 }));
  fc.assert(
    fc.property(span, fc.double({ min: 0.01, max: 100, noNaN: true }), ([from, length], factor) => {
      const { from: left, to: right } = possible(zoomed({ from, to: from + length }, factor, 0.3), now);
      expect(right).toBeLessThanOrEqual(now);
      expect(right - left).toBeGreaterThanOrEqual(599.999);
      expect(right - left).toBeLessThanOrEqual(730 * 24 * hour + 0.001);
    }),
  );
  expect(possible({ from: now, to: now + hour }, now)).toEqual({ from: now - hour, to: now });
});
