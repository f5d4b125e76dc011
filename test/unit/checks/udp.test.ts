import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { checkOf, CheckSpec } from '#checks/index.ts';
import { outcomeOf } from '#checks/outcome-schemas.ts';
import { Detail } from '#checks/udp/detail.ts';
import { offsetOf } from '#checks/udp/ntp-offset.ts';
import { fromRow, toRow } from '#checks/udp/row.ts';
import { UdpPreset, Spec } from '#checks/udp/spec.ts';
import { payloadBytes } from '#checks/udp/payload.ts';
import { presetAt, presets } from '#checks/udp/presets.ts';
import { anyText } from '../../support/any-text.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const Outcome = outcomeOf(Detail);

const escaped = (bytes: Uint8Array) => [...bytes].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
const someBytes = fc.uint8Array({ minLength: 1, maxLength: 300 });

const sent = (send: unknown) => {
  const spec = Spec.parse({ type: 'udp', host: 'example.com', send });
  return spec.send === undefined ? null : payloadBytes(spec.send);
};

test('all ways of writing give the same bytes', () => {
  fc.assert(
    fc.property(someBytes, (bytes) => {
      const buffer = Buffer.from(bytes);
      const ways = [
        escaped(bytes),
        { text: escaped(bytes) },
        { hex: buffer.toString('hex') },
        { base64: buffer.toString('base64') },
      ];
      for (const written of ways) expect(sent(written)?.equals(buffer)).toBe(true);
    }),
  );
});

test('any text either is a payload or is refused', () => {
  fc.assert(
    fc.property(anyText(), (text) => {
      for (const send of [text, { text }, { hex: text }, { base64: text }]) {
        const read = Spec.safeParse({ type: 'udp', host: 'example.com', send });
        if (read.success && read.data.send !== undefined)
          expect(payloadBytes(read.data.send).length).toBeGreaterThan(0);
      }
    }),
  );
});

test.each([
  { send: 'a\\q', message: 'unknown escape' },
  { send: { text: '\\x1' }, message: 'unknown escape' },
  { send: '', message: 'Too small' },
  { send: { hex: 'abc' }, message: 'expected pairs of hexadecimal digits' },
  { send: { base64: 'a*b' }, message: 'Invalid base64' },
  { send: 'a'.repeat(1_233), message: 'is longer than 1232 bytes' },
  { expect: { regex: '(' }, message: 'is no valid regular expression' },
  { offset_below: '1s', message: 'needs send: ntp' },
  { send: 'stun', offset_below: '1s', message: 'needs send: ntp' },
])('$message: refused', ({ message, ...options }) => {
  const result = CheckSpec.safeParse({ type: 'udp', host: 'example.com', ...options });
  expect(JSON.stringify(result.error?.issues.map((issue) => issue))).toContain(JSON.stringify(message).slice(1, -1));
});

test.each([
  ['example.com', 'example.com:80'],
  ['ntp://time.example.com', 'time.example.com:123'],
  ['udp://example.com:514', 'example.com:514'],
  ['2001:db8::1', '[2001:db8::1]:80'],
])('%s is recorded as %s', (written, host) => {
  const spec = CheckSpec.parse({ type: 'udp', host: written });
  expect(spec.host).toBe(host);
  expect(checkOf('udp').port(spec)).toBe(host.slice(host.lastIndexOf(':') + 1));
  expect(CheckSpec.parse(JSON.parse(JSON.stringify(z.encode(CheckSpec, spec))))).toEqual(spec);
});

test.each([
  ['before the era of 2036', Date.UTC(2036, 1, 7, 6, 28, 15), 3_000],
  ['after it', Date.UTC(2036, 1, 7, 6, 28, 17), -3_000],
])('an offset over the end of the era of NTP is right: %s', (_, wallMs, aheadMs) => {
  const reply = Buffer.alloc(48);
  reply.set([0x24, 1]);
  const seconds = ((wallMs + aheadMs) / 1e3 + 2_208_988_800) % 2 ** 32;
  for (const at of [32, 40]) {
    reply.writeUInt32BE(seconds, at);
    reply.writeUInt32BE(1, at + 4);
  }
  expect(offsetOf(reply, wallMs, wallMs)).toBeCloseTo(aheadMs / 1e3, 5);
});

test('arbitrary bytes are no proper reply to a preset and never throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), fc.constantFrom(...UdpPreset.options), (bytes, name) => {
      const preset = presets[name];
      const request = preset.make(seededRandom());
      expect(preset.recognise(Buffer.from(bytes), request)).toBeNull();
      expect(preset.recognise(request, request)).toBeNull();
    }),
  );
});

test('the ports of DNS, NTP and STUN are spoken to in their language', () => {
  expect([53, 123, 3_478, 80].map(presetAt)).toEqual([presets.dns, presets.ntp, presets.stun, null]);
});

test.each([
  { row: [{ address: '192.0.2.1', time: 0.012345, timeout: 0 }], status: 'up' },
  { row: [{ address: '192.0.2.1', timeout: 1 }], status: 'unknown' },
  { row: [{ error: 'connection refused: UDP port 9 is closed', address: '192.0.2.1' }], status: 'down' },
  { row: [{ error: 'the reply is no proper ntp answer', address: '192.0.2.1' }], status: 'down' },
  { row: [{ error: 'nowhere.example does not exist' }], status: 'down' },
  { row: [{ error: 'the resolver of this node does not work: its name servers do not answer' }], status: 'unknown' },
  { row: [{ error: 'the name servers of example.com do not answer' }], status: 'down' },
])('the row $row is $status and comes back as it was', ({ row, status }) => {
  const outcome = Outcome.parse(fromRow(row));
  expect(outcome.status).toBe(status);
  expect(toRow(outcome)).toEqual(row);
});

const texts = z.array(z.looseObject({ check: z.string(), kind: z.string(), sample: z.unknown() }));
const samples = texts.parse(JSON.parse(readFileSync(new URL('../../fixtures/samples.json', import.meta.url), 'utf8')));
const captured = samples
  .filter(({ check }) => check === 'udp')
  .flatMap(({ sample }) =>
    Array.isArray(sample) ? [sample] : Object.values(z.record(z.string(), z.unknown()).parse(sample)),
  );

test('every captured row is read', () => {
  const outcomes = captured.map((row) => fromRow(row));
  expect(outcomes).toMatchObject([
    { status: 'unknown', address: '77.88.55.60', failure: { code: 'silent' } },
    {
      status: 'unknown',
      address: '172.217.20.206',
      failure: { source: 'node', message: expect.stringContaining('UDP.pm') },
    },
  ]);
});

test('any value can be offered as a row, and what is read is stable', () => {
  const row = fc.record(
    {
      address: fc.anything(),
      time: fc.anything(),
      timeout: fc.anything(),
      error: fc.oneof(fc.string(), fc.anything()),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.oneof(fc.anything(), row), (offered) => {
      const outcome = fromRow([offered]);
      if (outcome === null) return;
      const again = toRow(Outcome.parse(outcome));
      expect(toRow(Outcome.parse(fromRow(again)))).toEqual(again);
    }),
  );
});
