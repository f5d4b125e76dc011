import { expect, test } from 'vitest';
import { describeNotice } from '#checks/ping/notice.ts';

test.each([
  { family: 4, type: 3, code: 1, by: '192.0.2.1', text: 'host unreachable, says 192.0.2.1' },
  { family: 4, type: 11, code: 1, by: null, text: 'time to live exceeded' },
  {
    family: 4,
    type: 3,
    code: 4,
    by: '192.0.2.1',
    mtu: 1300,
    text: 'packet too big, and not to be split (1300 bytes fit), says 192.0.2.1',
  },
  { family: 6, type: 2, code: 0, by: null, mtu: 1280, text: 'packet too big (1280 bytes fit)' },
  { family: 4, type: 3, code: 200, by: null, text: 'unreachable (type 3, code 200)' },
  { family: 6, type: 1, code: 3, by: '2001:db8::1', text: 'address unreachable, says 2001:db8::1' },
  { family: 6, type: 99, code: 0, by: null, text: 'unreachable (type 99, code 0)' },
] as const)('IPv$family type $type code $code reads "$text"', ({ family, text, ...notice }) => {
  expect(describeNotice(family, { ...notice, fromNetwork: true })).toBe(text);
});
