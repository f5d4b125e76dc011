import { expect, test } from 'vitest';
import { dateIn, readWhois, referralIn } from '#checks/domain/whois-answer.ts';

// The forms in which registries write dates, each as its own answers have them.
test.each([
  ['2027-03-01T12:30:00Z', '2027-03-01T12:30:00.000Z'],
  ['2027-03-01T00:00:00.0Z', '2027-03-01T00:00:00.000Z'],
  ['2027-03-01 04:00:00', '2027-03-01T04:00:00.000Z'],
  ['2027-03-01 12:00:00+02', '2027-03-01T10:00:00.000Z'],
  ['2027-03-01T12:00:00+0530', '2027-03-01T06:30:00.000Z'],
  ['2027.03.01 12:00:00', '2027-03-01T12:00:00.000Z'],
  ['2027/03/01', '2027-03-01T00:00:00.000Z'],
  ['2027. 03. 01.', '2027-03-01T00:00:00.000Z'],
  ['2027-Mar-01.', '2027-03-01T00:00:00.000Z'],
  ['20270301', '2027-03-01T00:00:00.000Z'],
  ['1.3.2027 12:00:00', '2027-03-01T12:00:00.000Z'],
  ['01.03.2027', '2027-03-01T00:00:00.000Z'],
  ['01-03-2027', '2027-03-01T00:00:00.000Z'],
  ['01-Mar-2027', '2027-03-01T00:00:00.000Z'],
  ['31/03/2027', '2027-03-31T00:00:00.000Z'],
  ['03/31/2027', '2027-03-31T00:00:00.000Z'],
  ['03/04/2027', null],
  ['2027-02-30', null],
  ['2027-13-01', null],
  ['soon', null],
  ['', null],
])('the date "%s" is %s', (text, expected) => {
  const at = dateIn(text);
  expect(at === null ? null : new Date(at).toISOString()).toBe(expected);
});

const expires = Date.UTC(2027, 2, 1);

test.each([
  [
    'keys and values',
    '% This is the registry\r\ndomain:        SHOP.EXAMPLE\r\nstate:         REGISTERED, DELEGATED\r\nregistrar:     NAMES-EX\r\npaid-till:     2027-03-01T00:00:00Z\r\n',
    { expiresAt: expires, registrar: 'NAMES-EX', status: ['registered, delegated'] },
  ],
  [
    'EPP statuses, as generic domains have them',
    'Domain Name: SHOP.EXAMPLE\nRegistrar: Names, Inc.\nRegistrar WHOIS Server: whois.names.example\nDomain Status: clientTransferProhibited https://icann.org/epp#clientTransferProhibited\nDomain Status: redemptionPeriod https://icann.org/epp#redemptionPeriod\nRegistry Expiry Date: 2027-03-01T00:00:00Z\n',
    { expiresAt: expires, registrar: 'Names, Inc.', status: ['client transfer prohibited', 'redemption period'] },
  ],
  [
    'dots before the colon',
    'domain.............: shop.example\nexpires............: 1.3.2027 00:00:00\n',
    { expiresAt: expires },
  ],
  [
    'brackets',
    '[Domain Name]                   SHOP.EXAMPLE\n[Expires on]                    2027/03/01\n',
    { expiresAt: expires },
  ],
  [
    'values below their keys',
    '    Domain name:\n        shop.example\n\n    Expiry date:  01-Mar-2027\n',
    { expiresAt: expires },
  ],
  ['a sentence', 'Domain Name: shop.example\n   Record expires on 2027-03-01 00:00:00\n', { expiresAt: expires }],
  ['no date', 'Domain: shop.example\nStatus: connect\n', { expiresAt: null, status: ['connect'] }],
])('reads %s', (_, text, expected) => {
  expect(readWhois(text, 'shop.example')?.registration).toMatchObject({ domain: 'shop.example', ...expected });
});

test.each([
  'No match for "SHOP.EXAMPLE".',
  '% No entries found for the selected source(s).',
  'NOT FOUND',
  'Domain: shop.example\nStatus: free\n',
  'The queried object does not exist: previous registration',
])('%j is a domain that is not registered', (text) => {
  expect(readWhois(text, 'shop.example')).toEqual({ registration: null });
});

test.each([
  'You have been banned for abuse: too many queries\n',
  '',
  'Domain Name: OTHER.EXAMPLE\nRegistry Expiry Date: 2027-03-01T00:00:00Z\n',
  'domain: EXAMPLE\norganisation: Example registry\n',
  '\0\u{1}\u{ffff}'.repeat(1_000),
])('%j says nothing of the domain', (text) => {
  expect(readWhois(text, 'shop.example')).toBeNull();
});

test.each([
  ['% IANA WHOIS server\n\nrefer:        whois.nic.example\n\ndomain:       EXAMPLE\n', 'whois.nic.example'],
  ['refer: whois://whois.nic.example:4343/\r\n', 'whois.nic.example:4343'],
  ['whois:        \n\ndomain: EXAMPLE\n', null],
  ['Registrar WHOIS Server: whois.names.example\n', null],
])('%j refers to %s', (text, server) => {
  expect(referralIn(text)).toBe(server);
});
