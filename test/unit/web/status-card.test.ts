import { crc32, inflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { cardName, createCards, statusCard } from '#web/pages/status-card.ts';
import { encodePng } from '#web/pages/png.ts';
import { serviceOf } from '#web/pages/status.ts';
import type { ShownState } from '#web/state/shown.ts';

/** The colors of an image as this program writes it, by column and line. Throws if a checksum is wrong. */
function decode(png: Buffer) {
  expect(png.subarray(0, 8).toString('latin1')).toBe('\u0089PNG\r\n\u001a\n');
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at);
    const body = png.subarray(at + 4, at + 8 + length);
    expect(png.readUInt32BE(at + 8 + length)).toBe(crc32(body));
    chunks.set(body.toString('latin1', 0, 4), body.subarray(4));
    at += 12 + length;
  }
  expect([...chunks.keys()]).toEqual(['IHDR', 'PLTE', 'IDAT', 'IEND']);
  const chunk = (name: string) => chunks.get(name) ?? expect.unreachable();
  const [width, height] = [chunk('IHDR').readUInt32BE(0), chunk('IHDR').readUInt32BE(4)];
  const lines = inflateSync(chunk('IDAT'));
  expect(lines.length).toBe((width + 1) * height);
  const at = (x: number, y: number) => {
    const index = lines[y * (width + 1) + 1 + x] ?? 0;
    return [...chunk('PLTE').subarray(index * 3, index * 3 + 3)];
  };
  return { width, height, at };
}

const valueOf = (states: readonly ShownState[]) => ({
  services: states.map((status, index) => ({ ...serviceOf('Web', `t${index}`, undefined, null), status })),
});

test('an image has its pixels in their colors', () => {
  const palette = [
    [1, 2, 3],
    [250, 251, 252],
  ] as const;
  const { at, width, height } = decode(
    encodePng({ width: 3, height: 2, pixels: Uint8Array.of(0, 1, 0, 1, 1, 0), palette }),
  );
  expect([width, height]).toEqual([3, 2]);
  expect([at(0, 0), at(1, 0), at(2, 1), at(0, 1)]).toEqual([
    [1, 2, 3],
    [250, 251, 252],
    [1, 2, 3],
    [250, 251, 252],
  ]);
});

test('a card shows the worst state and a field for each service, and is drawn once', () => {
  const cards = createCards();
  const [red, green, blue] = [
    [185, 37, 28],
    [26, 127, 75],
    [63, 95, 176],
  ];
  const value = valueOf(['up', 'down', 'maintenance']);
  const card = cards(statusCard(value));
  const { at, width, height } = decode(card);
  expect([width, height]).toEqual([1_200, 630]);
  // The edge of the sign, and the middle of each field.
  expect(at(600, 80)).toEqual(red);
  expect([at(510, 535), at(600, 535), at(690, 535)]).toEqual([green, red, blue]);
  expect(at(10, 10)).toEqual([255, 255, 255]);
  expect(cards(statusCard(valueOf(['up', 'down', 'maintenance'])))).toBe(card);
  expect(decode(cards(statusCard(valueOf(['up'])))).at(600, 80)).toEqual(green);
  expect(decode(cards(statusCard(valueOf([])))).at(600, 80)).toEqual([102, 113, 123]);
  // Another state has another address.
  const names = [['up', 'down'], ['down', 'up'], ['up'], ['partial'], ['unknown']] as const;
  expect(new Set(names.map((states) => cardName(statusCard(valueOf(states))))).size).toBe(names.length);
  expect(decode(cards(statusCard(valueOf(Array.from({ length: 500 }, () => 'up'))))).width).toBe(1_200);
  expect(card.length).toBeLessThan(20_000);
});
