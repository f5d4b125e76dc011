import { expect, test } from 'vitest';
import { HourRanges } from '#config/shape/hours.ts';

const [sun, mon, tue, wed, thu, fri, sat] = [0, 1, 2, 3, 4, 5, 6];

test.each([
  { text: 'mon-fri 08:00-18:00', days: [mon, tue, wed, thu, fri], from: 480, to: 1_080 },
  { text: 'sat,sun 10:00 - 14:30', days: [sun, sat], from: 600, to: 870 },
  { text: 'Daily 22:00-06:00', days: [sun, mon, tue, wed, thu, fri, sat], from: 1_320, to: 360 },
  { text: 'fri-mon 00:00-24:00', days: [sun, mon, fri, sat], from: 0, to: 1_440 },
  { text: 'tue 09:05-09:06', days: [tue], from: 545, to: 546 },
])('$text is understood', ({ text, ...range }) => {
  expect(HourRanges.parse(text)).toEqual([range]);
  expect(HourRanges.parse([text, 'sat 10:00-11:00'])).toHaveLength(2);
});

test.each([
  '',
  'mon',
  '08:00-18:00',
  'mon-fri 8-18',
  'mon-fri 08:00-08:00',
  'mo-fr 08:00-18:00',
  'mon 25:00-26:00',
  'mon-tue-wed 08:00-18:00',
  7,
  [],
])('%j is refused', (text) => expect(HourRanges.safeParse(text).success).toBe(false));
