const mostRecords = 500;
const mostJumps = 16;

/**
 * What is wrong with the outline of a DNS message (RFC 1035, section 4.1), or null. Names must end, lengths must fit, and
 * the counts must be bearable, so that the decoder behind this never works on lies for long.
 */
export function frameFault(bytes: Buffer): string | null {
  if (bytes.length < 12) return 'shorter than a header';
  const [questions, ...sections] = [4, 6, 8, 10].map((offset) => bytes.readUInt16BE(offset));
  const records = sections.reduce((sum, count) => sum + count, 0);
  if ((questions ?? 0) > 1 || records > mostRecords) return 'too many records';
  let offset: number | null = 12;
  for (let index = 0; index < (questions ?? 0); index += 1) {
    offset = skipName(bytes, offset);
    if (offset === null || offset + 4 > bytes.length) return 'the question is cut off or its name never ends';
    offset += 4;
  }
  for (let index = 0; index < records; index += 1) {
    offset = skipName(bytes, offset);
    if (offset === null || offset + 10 > bytes.length) return 'a record is cut off or its name never ends';
    const type = bytes.readUInt16BE(offset);
    const length = bytes.readUInt16BE(offset + 8);
    offset += 10 + length;
    if (offset > bytes.length) return "a record's data is longer than the message";
    if (addressBytes.has(type) && addressBytes.get(type) !== length) return 'an address record of the wrong length';
  }
  return null;
}

const addressBytes: ReadonlyMap<number, number> = new Map([
  [1, 4],
  [28, 16],
]);

/** Where a name that begins at `start` ends in the message; null where it does not, or jumps about too much. */
export function skipName(bytes: Buffer, start: number): number | null {
  let offset = start;
  let end: number | null = null;
  let jumps = 0;
  while (offset < bytes.length) {
    const length = bytes.readUInt8(offset);
    if (length === 0) return end ?? offset + 1;
    if (length < 0x40) {
      offset += 1 + length;
    } else {
      jumps += 1;
      if (length < 0xc0 || offset + 2 > bytes.length || jumps > mostJumps) return null;
      end ??= offset + 2;
      offset = bytes.readUInt16BE(offset) & 0x3fff;
    }
  }
  return null;
}
