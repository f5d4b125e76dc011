import { expect, test } from 'vitest';
import { nodeTable } from '../../../src/cli/nodes/node-table.ts';

const info = { name: 'de1', countryCode: 'de', country: 'Germany', city: 'Nuremberg', asn: '', ip: '' };
const status = {
  name: 'de1',
  online: true,
  reason: null,
  version: '1.0.0',
  processes: 1,
  spooled: 7,
  clockOffsetMs: null,
  roundTripMs: null,
};

const lastCell = (losses?: { dropped: number; refused: number; skipped: number; hub_overload?: number }) =>
  nodeTable([info], [{ ...status, losses }])
    .trimEnd()
    .split(/\s{2,}/)
    .at(-1);

test('the table of nodes says what each has lost', () => {
  expect(lastCell({ dropped: 12, refused: 0, skipped: 3 })).toBe('12 dropped, 3 not begun');
  expect(lastCell({ dropped: 0, refused: 0, skipped: 0, hub_overload: 7 })).toBe('7 skipped (hub overload)');
  expect(lastCell({ dropped: 0, refused: 2, skipped: 0 })).toBe('2 refused');
  expect(lastCell({ dropped: 0, refused: 0, skipped: 0 })).toBe('0');
  expect(lastCell()).toBe('-');
});
