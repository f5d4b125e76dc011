/**
 * A text in UTF-8, written piece by piece. A string that is put together of ten pieces for each line takes up to three times as long, most
 * of it to make bytes of them in the end, and leaves all pieces to be collected.
 */
export class TextWriter {
  #bytes = Buffer.allocUnsafeSlow(65_536);
  #length = 0;
  /** What was written last as the text of something, and where. */
  #last: { readonly of: object; readonly from: number; readonly to: number } | null = null;

  /** How many bytes were written since `take`. */
  get length(): number {
    return this.#length;
  }

  /** What was written, and begins anew: it holds until more is written. */
  take(): Uint8Array {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#length = 0;
    this.#last = null;
    return taken;
  }

  text(text: string): void {
    const { length } = text;
    // Three bytes are the most that one unit of UTF-16 takes.
    this.#reserve(3 * length);
    const bytes = this.#bytes;
    let at = this.#length;
    // `write` takes 60 ns for any length, reading a unit 3 ns: strings have many shapes in V8.
    const own = length < callFrom ? length : 0;
    let index = 0;
    for (; index < own; index += 1) {
      const unit = text.charCodeAt(index);
      if (unit >= 0x80) break;
      bytes[at++] = unit;
    }
    if (index < length) at += bytes.write(index === 0 ? text : text.slice(index), at);
    this.#length = at;
  }

  /** The text of something that is often written many times in a row. */
  textOf(of: object, text: string): void {
    if (this.#last?.of === of) return this.again(this.#last.from, this.#last.to);
    const from = this.#length;
    this.text(text);
    this.#last = { of, from, to: this.#length };
  }

  /** Once more what was written from one place to another; places are lengths. */
  again(from: number, to: number): void {
    this.#reserve(to - from);
    this.#bytes.copyWithin(this.#length, from, to);
    this.#length += to - from;
  }

  /** Takes back what was written since then. */
  cut(length: number): void {
    this.#length = length;
    this.#last = null;
  }

  /** As JavaScript writes it. */
  number(value: number): void {
    if (!Number.isInteger(value) || value < 0 || value >= mostDigits || Object.is(value, -0))
      return this.text(String(value));
    let size = 1;
    for (let bound = 10; bound <= value; bound *= 10) size += 1;
    this.#reserve(size);
    let rest = value;
    for (let at = this.#length + size - 1; at >= this.#length; at -= 1) {
      const next = Math.floor(rest / 10);
      this.#bytes[at] = zero + rest - 10 * next;
      rest = next;
    }
    this.#length += size;
  }

  #reserve(size: number): void {
    if (this.#length + size <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(2 * (this.#length + size));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

const callFrom = 16;
const zero = 0x30;
// Others are exact no more when they are divided.
const mostDigits = 1e15;
