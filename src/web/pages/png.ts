import { crc32, deflateSync } from 'node:zlib';

/** An image with one byte a pixel, a number of its palette. */
export interface IndexedImage {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8Array;
  /** Colors as red, green and blue, at most 256. */
  readonly palette: readonly (readonly [number, number, number])[];
}

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** An image as PNG (W3C, Portable Network Graphics, third edition): eight bits a pixel with a palette. */
export function encodePng({ width, height, pixels, palette }: IndexedImage): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  // Bit depth, color type 3 (palette), and the only compression, filter and interlace that are needed.
  head.set([8, 3, 0, 0, 0], 8);
  // Each line begins with the type of its filter: none.
  const lines = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1) lines.set(pixels.subarray(y * width, (y + 1) * width), y * (width + 1) + 1);
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('PLTE', Buffer.from(palette.flat())),
    chunk('IDAT', deflateSync(lines, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
