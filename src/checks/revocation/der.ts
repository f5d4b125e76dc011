/** A value of DER (X.690): its tag, its content, and all of its bytes. */
export interface DerValue {
  readonly tag: number;
  readonly content: Buffer;
  readonly whole: Buffer;
}

/** Bytes that are not what they should be. */
export class MalformedDer extends Error {
  override readonly name = 'MalformedDer';
}

export const sequenceTag = 0x30;
export const integerTag = 0x02;
export const utcTimeTag = 0x17;
export const generalizedTimeTag = 0x18;

/** A UTCTime or a GeneralizedTime in milliseconds since the epoch; of two digits, years from 50 on are those before 2000 (RFC 5280, section 4.1.2.5.1). */
export function timeOf(time: DerValue | undefined): number {
  const text = time?.content.toString('latin1') ?? '';
  const full = time?.tag === utcTimeTag ? `${Number(text.slice(0, 2)) < 50 ? '20' : '19'}${text}` : text;
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(full) ?? [];
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(at)) throw new MalformedDer('it has no valid time');
  return at;
}

export const isoTime = (time: DerValue | undefined) => new Date(timeOf(time)).toISOString();

/** What a value of this tag consists of. */
export function inside(outer: DerValue, tag: number): readonly DerValue[] {
  if (outer.tag !== tag) throw new MalformedDer('a part of it has the wrong type');
  return children(outer.content);
}

export function first(outer: DerValue | undefined): DerValue {
  if (outer === undefined) throw new MalformedDer('a part of it is missing');
  return value(outer.content);
}

export function children(bytes: Buffer): readonly DerValue[] {
  const found: DerValue[] = [];
  for (let left = bytes; left.length > 0;) {
    const one = value(left);
    found.push(one);
    left = left.subarray(one.whole.length);
  }
  return found;
}

/** The value that the bytes begin with. */
export function value(bytes: Buffer): DerValue {
  const [tag, short] = bytes;
  if (tag === undefined || short === undefined) throw new MalformedDer('it is cut off');
  const more = short < 0x80 ? 0 : short & 0x7f;
  if (more > 4 || short === 0x80 || bytes.length < 2 + more) throw new MalformedDer('a length in it is wrong');
  const length = more === 0 ? short : bytes.readUIntBE(2, more);
  const end = 2 + more + length;
  if (end > bytes.length) throw new MalformedDer('it is cut off');
  return { tag, content: bytes.subarray(2 + more, end), whole: bytes.subarray(0, end) };
}

/** A value of these contents. */
export function encode(tag: number, content: Buffer): Buffer {
  if (content.length < 0x80) return Buffer.concat([Buffer.from([tag, content.length]), content]);
  const length = Buffer.from(content.length.toString(16).padStart(content.length > 0xff ? 4 : 2, '0'), 'hex');
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length]), length, content]);
}
