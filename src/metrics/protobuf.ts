/**
 * Writes protocol buffers from their end to their beginning: what stands inside a message is written before its length, which is known
 * by then.
 */
export class ProtobufWriter {
  #bytes = Buffer.allocUnsafe(65_536);
  #start = this.#bytes.length;

  /** What was written, and an empty writer. */
  take(): Uint8Array {
    const taken = Uint8Array.prototype.slice.call(this.#bytes, this.#start);
    this.#start = this.#bytes.length;
    return taken;
  }

  /** A place: `close` makes a message of what was written since. */
  open(): number {
    return this.#bytes.length - this.#start;
  }

  close(field: number, opened: number): void {
    this.length(opened);
    this.#varint(field * 8 + 2);
  }

  /** The length of what was written since, in front of it. */
  length(opened: number): void {
    this.#varint(this.#bytes.length - this.#start - opened);
  }

  text(field: number, value: string): void {
    const opened = this.open();
    const size = Buffer.byteLength(value);
    this.#bytes.write(value, this.#reserve(size), size, 'utf8');
    this.close(field, opened);
  }

  double(field: number, value: number): void {
    this.#bytes.writeDoubleLE(value, this.#reserve(8));
    this.#varint(field * 8 + 1);
  }

  unsigned(field: number, value: number): void {
    this.#varint(value);
    this.#varint(field * 8);
  }

  signed(field: number, value: number): void {
    this.unsigned(field, zigzag(value));
  }

  /** A packed list of signed numbers. */
  signedList(field: number, values: readonly number[]): void {
    const opened = this.open();
    for (const value of values.toReversed()) this.#varint(zigzag(value));
    this.close(field, opened);
  }

  #varint(value: number): void {
    let size = 1;
    for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) size += 1;
    let place = this.#reserve(size);
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#bytes[place++] = (rest % 128) + 128;
    this.#bytes[place] = rest;
  }

  /** Where `size` bytes have room in front of the others. */
  #reserve(size: number): number {
    if (this.#start < size) {
      const used = this.#bytes.length - this.#start;
      const larger = Buffer.allocUnsafe(2 * (used + size));
      this.#bytes.copy(larger, larger.length - used, this.#start);
      this.#bytes = larger;
      this.#start = larger.length - used;
    }
    this.#start -= size;
    return this.#start;
  }
}

const zigzag = (value: number) => (value < 0 ? -2 * value - 1 : 2 * value);
