/** A value of D-Bus. Numbers of 64 bits lose what a double cannot hold; nothing here asks for them. */
export type Value = string | number | boolean | readonly Value[];

/** What is not as the specification says. */
export class WireError extends Error {}

const mostDepth = 32;
const fixed: Readonly<Record<string, number>> = { y: 1, n: 2, q: 2, b: 4, i: 4, u: 4, h: 4, x: 8, t: 8, d: 8 };

/** The next multiple of `to`. */
export const aligned = (at: number, to: number) => Math.ceil(at / to) * to;

/**
 * Reads values by their signature (D-Bus specification, "Marshaling"). `origin` is where its bytes begin, for the alignment. Throws a
 * `WireError`.
 */
export class ValueReader {
  readonly #bytes: Buffer;
  readonly #isLittle: boolean;
  readonly #origin: number;
  #at = 0;

  constructor(bytes: Buffer, isLittle: boolean, origin = 0) {
    this.#bytes = bytes;
    this.#isLittle = isLittle;
    this.#origin = origin;
  }

  all(signature: string): readonly Value[] {
    const values: Value[] = [];
    for (let at = 0; at < signature.length;) {
      const type = singleType(signature, at);
      values.push(this.#value(type, 0));
      at += type.length;
    }
    return values;
  }

  #value(type: string, depth: number): Value {
    if (depth > mostDepth) throw new WireError('values in values in values');
    const [code = ''] = type;
    if (code === 's' || code === 'o') return this.#text(this.#number('u'));
    if (code === 'g') return this.#text(this.#number('y'));
    if (code === 'v') return this.#variant(depth);
    if (code === 'a') return this.#list(type.slice(1), depth);
    if (code === '(' || code === '{') {
      this.#skip(8);
      return this.#members(type.slice(1, -1), depth);
    }
    const number = this.#number(code);
    return code === 'b' ? number !== 0 : number;
  }

  #variant(depth: number): Value {
    const type = this.#text(this.#number('y'));
    if (type === '' || singleType(type, 0) !== type) throw new WireError('a variant of not one type');
    return this.#value(type, depth + 1);
  }

  #list(type: string, depth: number): readonly Value[] {
    const length = this.#number('u');
    this.#skip(alignmentOf(type));
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new WireError('a list that is cut off');
    const values: Value[] = [];
    while (this.#at < end) {
      const before = this.#at;
      values.push(this.#value(type, depth + 1));
      if (this.#at === before) throw new WireError('a list of nothing');
    }
    return values;
  }

  #members(types: string, depth: number): readonly Value[] {
    const values: Value[] = [];
    for (let at = 0; at < types.length;) {
      const type = singleType(types, at);
      values.push(this.#value(type, depth + 1));
      at += type.length;
    }
    return values;
  }

  #skip(alignment: number): void {
    this.#at = aligned(this.#at + this.#origin, alignment) - this.#origin;
  }

  #take(length: number): Buffer {
    const part = this.#bytes.subarray(this.#at, this.#at + length);
    if (part.length < length) throw new WireError('a value that is cut off');
    this.#at += length;
    return part;
  }

  #text(length: number): string {
    return this.#take(length + 1).toString('utf8', 0, length);
  }

  #number(code: string): number {
    const length = fixed[code];
    if (length === undefined) throw new WireError(`a value of type "${code}"`);
    this.#skip(length);
    const part = this.#take(length);
    if (code === 'd') return this.#isLittle ? part.readDoubleLE() : part.readDoubleBE();
    if (length === 8) return Number(this.#isLittle ? part.readBigInt64LE() : part.readBigInt64BE());
    const isSigned = code === 'n' || code === 'i';
    if (this.#isLittle) return isSigned ? part.readIntLE(0, length) : part.readUIntLE(0, length);
    return isSigned ? part.readIntBE(0, length) : part.readUIntBE(0, length);
  }
}

function alignmentOf(type: string): number {
  const [code = ''] = type;
  if (code === '(' || code === '{') return 8;
  return fixed[code] ?? (code === 'g' || code === 'v' ? 1 : 4);
}

/** The complete type that begins at a place of a signature. */
function singleType(signature: string, at: number): string {
  let end = at;
  while (signature[end] === 'a') end += 1;
  let open = 0;
  do {
    const code = signature[end];
    if (code === undefined || end - at > 255) throw new WireError('a type that is cut off');
    if (code === '(' || code === '{') open += 1;
    if (code === ')' || code === '}') open -= 1;
    end += 1;
  } while (open > 0);
  return signature.slice(at, end);
}
