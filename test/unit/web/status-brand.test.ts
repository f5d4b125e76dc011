import { expect, test } from 'vitest';
import type { PastIncident } from '#history/incidents.ts';
import { dayMs } from '#kernel/units.ts';
import { brandFile, brandOf } from '#web/pages/brand.ts';
import { calendarOf } from '#web/pages/calendar.ts';
import { archiveContent } from '#web/pages/status-archive.ts';
import { createPastOutages } from '#web/pages/status-past.ts';
import { serviceOf, statusContent } from '#web/pages/status.ts';
import { placeOf } from '#web/pages/status-place.ts';
import { builtInLanguages, englishOf } from '#languages/languages.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const english = englishOf(builtInLanguages);
const now = Date.parse('2026-03-02T12:00:00Z');
const minute = 60_000;

const page = {
  title: 'Example',
  targets: { shop: 'Web shop', api: 'API', mail: 'Mail' },
  groups: { Shop: ['shop', 'api'] },
  links: { Help: 'https://example.com/help' },
  color: '#AA0000',
  logo: { type: 'image/svg+xml', bytes: Buffer.from('<svg/>'), digest: '0123456789ab' },
};

test('a page of its own has its logo, color and links, and a logo cannot run scripts', () => {
  expect(brandOf('status', { status: page })).toEqual({
    brand: {
      name: 'Example',
      href: '/status',
      logo: '/brand/status/logo-0123456789ab',
      style: '/brand/status/color-aa0000.css',
      links: [{ text: 'Help', href: 'https://example.com/help' }],
    },
  });
  const logo = brandFile('status', 'logo-0123456789ab', { status: page });
  expect(logo?.headers).toMatchObject({ 'content-type': 'image/svg+xml' });
  expect(logo?.headers['content-security-policy']).toContain('sandbox');
  expect(String(brandFile('status', 'color-aa0000.css', { status: page })?.body)).toContain('#AA0000');
  for (const file of ['logo-000000000000', 'color-ffffff.css', '../x', '']) {
    expect(brandFile('status', file, { status: page })).toBeNull();
  }
  expect(brandFile('constructor', 'logo-0123456789ab', { status: page })).toBeNull();
});

test('services stand below their groups, those in none before them', () => {
  const services = Object.entries(page.targets).map(([target, name]) => serviceOf(name, target, undefined, null));
  const groups = Object.entries(page.groups).map(([name, targets]) => ({ name, targets }));
  const value = { title: 'Example', services, notes: [], maintenance: [], groups, outages: [], pastNotes: [], now };
  const text = String(
    statusContent(
      value,
      english,
      placeOf({ page: 'status', domain: undefined, isOnDomain: false, requested: 'http://x', publicUrl: null }),
    ),
  );
  const headings = [...text.matchAll(/<h[23]>([^<]*)<\/h[23]>/g)].map(([, heading]) => heading);
  expect(headings).toEqual(['Mail', 'Shop', 'Web shop', 'API', 'Past incidents']);
});

test('maintenance is a calendar with folded lines and escaped text', () => {
  const services = [
    'Web shop, and a name that is so long that its line has to be folded; twice at least, it seems to me',
  ];
  const maintenance = [{ from: now, to: now + 30 * minute, services }];
  const text = calendarOf({ title: 'Example', maintenance, now }, 'https://status.example.com/status');
  const lines = text.split('\r\n');
  expect(lines.every((line) => Buffer.byteLength(line) <= 75)).toBe(true);
  const unfolded = text.replaceAll('\r\n ', '');
  expect(unfolded).toContain('DTSTART:20260302T120000Z\r\nDTEND:20260302T123000Z\r\n');
  expect(unfolded).toContain(String.raw`SUMMARY:Example: Web shop\, and a name`);
  expect(unfolded).toContain(String.raw`folded\; twice`);
});

const past = (target: string, startedAt: number, more: Partial<PastIncident> = {}): PastIncident => ({
  id: `${target}/down/${startedAt}`,
  target,
  rule: 'down',
  severity: 'critical',
  word: 'DOWN',
  subject: '',
  condition: '',
  cause: 'a secret host',
  startedAt,
  openedAt: startedAt,
  endedAt: startedAt + 10 * minute,
  closing: 'recovered',
  held: null,
  acknowledged: null,
  ...more,
});

test('past incidents are those of the page, critical, not suppressed, under the names of the page, and read once in 15 seconds', async () => {
  const clock = new FakeClock(new Date(now).toISOString());
  let reads = 0;
  const all = [
    past('shop', now - dayMs),
    past('api', now - 2 * dayMs, { endedAt: null }),
    past('other', now - dayMs),
    past('shop', now - 3 * dayMs, { severity: 'warning' }),
    past('shop', now - 4 * dayMs, { held: 'maintenance' }),
  ];
  const outages = createPastOutages({
    reader: {
      async incidents({ target, severity, isHeld, from = 0, to = 0 }) {
        reads += 1;
        const found = all.filter((one) => one.target === target && one.startedAt >= from && one.startedAt < to);
        const isAsked = (one: PastIncident) =>
          (severity === undefined || one.severity === severity) &&
          (isHeld === undefined || (one.held !== null) === isHeld);
        return { incidents: found.filter(isAsked), next: null };
      },
    },
    targetsOf: (name) => (name === 'status' ? page.targets : null),
    clock,
    failed: (error) => expect.unreachable(String(error)),
  });
  expect(outages.latest('status')).toEqual([]);
  await clock.advance(1);
  expect(outages.latest('status')).toEqual([
    { service: 'Web shop', from: now - dayMs, to: now - dayMs + 10 * minute },
    { service: 'API', from: now - 2 * dayMs, to: null },
  ]);
  expect(reads).toBe(3);
  expect(await outages.ofMonth('status', '2026-02')).toHaveLength(1);
  await outages.ofMonth('status', '2026-02');
  expect(reads).toBe(6);
});

test('an archive leads to the months beside, and not to one that has not begun', () => {
  const of = (month: string) =>
    String(
      archiveContent({ title: 'Example', month, outages: [], notes: [], services: [], now, path: '/status' }, english),
    );
  expect(of('2026-01')).toMatch(/month=2025-12.*month=2026-02/s);
  expect(of('2026-03')).not.toContain('month=2026-04');
  expect(of('2026-03')).toContain('No incidents in this month.');
});
