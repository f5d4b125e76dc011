/** Writes whole numbers as bits, the highest first. */
export class BitWriter {
  readonly #bytes: number[] = [];
  #current = 0;
  #filled = 0;

  bit(value: 0 | 1): void {
    this.#current = (this.#current << 1) | value;
    this.#filled += 1;
    if (this.#filled < 8) return;
    this.#bytes.push(this.#current);
    this.#current = 0;
    this.#filled = 0;
  }

  /** The lowest `count` bits of a value below 2^53. */
  bits(value: number, count: number): void {
    for (let place = count - 1; place >= 0; place -= 1) this.bit(Math.floor(value / 2 ** place) % 2 === 1 ? 1 : 0);
  }

  /** Fills up the last byte. */
  done(): Uint8Array {
    while (this.#filled > 0) this.bit(0);
    return Uint8Array.from(this.#bytes);
  }
}

/** Reads what a `BitWriter` wrote. Throws a `RangeError` at the end of the bytes. */
export class BitReader {
  readonly #bytes: Uint8Array;
  #at = 0;
  #place = 7;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  bit(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new RangeError('unexpected end of bits');
    const value = (byte >> this.#place) & 1;
    if (this.#place > 0) this.#place -= 1;
    else {
      this.#place = 7;
      this.#at += 1;
    }
    return value;
  }

  bits(count: number): number {
    let value = 0;
    for (let left = count; left > 0; left -= 1) value = value * 2 + this.bit();
    return value;
  }
}
