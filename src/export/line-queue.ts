/** Lines that wait to be written or sent, bounded by their length: the oldest are dropped beyond it. */
export class LineQueue {
  readonly #mostBytes: number;
  #lines: string[] = [];
  // Those before it are gone: taking the oldest of many out one by one would move all others each time.
  #first = 0;
  #bytes = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  get length(): number {
    return this.#lines.length - this.#first;
  }

  /** Gives how many of the oldest it dropped for them. */
  add(lines: readonly string[]): number {
    for (const line of lines) {
      this.#lines.push(line);
      this.#bytes += line.length;
    }
    return this.#dropOldest();
  }

  /** Takes back what was taken last. Gives how many of the oldest it dropped. */
  putBack(lines: readonly string[]): number {
    this.#lines = [...lines, ...this.#lines.slice(this.#first)];
    this.#first = 0;
    for (const line of lines) this.#bytes += line.length;
    return this.#dropOldest();
  }

  /** Takes the oldest out: so many, and so many characters, but at least one. */
  take(most: number, mostBytes: number): readonly string[] {
    let [count, bytes] = [0, 0];
    while (count < Math.min(most, this.length)) {
      const { length } = this.#lines[this.#first + count] ?? '';
      if (count > 0 && bytes + length > mostBytes) break;
      bytes += length;
      count += 1;
    }
    const taken = this.#lines.slice(this.#first, this.#first + count);
    this.#forget(count, bytes);
    return taken;
  }

  #dropOldest(): number {
    let [count, bytes] = [0, 0];
    while (this.#bytes - bytes > this.#mostBytes && count < this.length) {
      bytes += this.#lines[this.#first + count]?.length ?? 0;
      count += 1;
    }
    this.#forget(count, bytes);
    return count;
  }

  #forget(count: number, bytes: number): void {
    this.#lines.fill('', this.#first, this.#first + count);
    this.#first += count;
    this.#bytes -= bytes;
    if (this.#first < this.#lines.length / 2) return;
    this.#lines = this.#lines.slice(this.#first);
    this.#first = 0;
  }
}
