import { aligned } from './value-reader.ts';

export interface MethodCall {
  /** What the answer names; above 0. */
  readonly serial: number;
  /** Null where there is no bus between the two sides. */
  readonly destination: string | null;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  /** Texts, one after the other, or one list of texts. */
  readonly body?: readonly string[] | { readonly list: readonly string[] };
}

const fields = { path: 1, interface: 2, member: 3, destination: 6, signature: 8 } as const;
// No service is started for a question.
const noAutoStart = 2;

/** A method call as it is sent, in little endian (D-Bus specification, "Message Protocol"). */
export function encodeCall(call: MethodCall): Buffer {
  const { serial, destination, path, interface: name, member, body = [] } = call;
  const isList = 'list' in body;
  const content = new ValueWriter();
  if (isList) content.list(() => body.list.forEach((text) => void content.text(text)));
  else for (const text of body) content.text(text);
  const signature = isList ? 'as' : 's'.repeat(body.length);
  const head = new ValueWriter();
  head.raw(Buffer.from([0x6c, 1, noAutoStart, 1]));
  head.uint(content.bytes).uint(serial);
  head.list(() => {
    head.field(fields.path, 'o', path).field(fields.interface, 's', name).field(fields.member, 's', member);
    if (destination !== null) head.field(fields.destination, 's', destination);
    if (signature !== '') head.field(fields.signature, 'g', signature);
  }, 8);
  head.pad(8);
  return Buffer.concat([head.all(), content.all()]);
}

class ValueWriter {
  readonly #parts: Buffer[] = [];
  bytes = 0;

  raw(part: Buffer): this {
    this.#parts.push(part);
    this.bytes += part.length;
    return this;
  }

  pad(to: number): this {
    return this.raw(Buffer.alloc(aligned(this.bytes, to) - this.bytes));
  }

  uint(value: number): this {
    this.pad(4);
    const part = Buffer.alloc(4);
    part.writeUInt32LE(value);
    return this.raw(part);
  }

  text(value: string): this {
    const part = Buffer.from(value);
    return this.uint(part.length).raw(part).raw(Buffer.alloc(1));
  }

  field(code: number, signature: string, value: string): this {
    this.pad(8).raw(Buffer.from([code, 1, signature.charCodeAt(0), 0]));
    if (signature !== 'g') return this.text(value);
    return this.raw(Buffer.from([value.length]))
      .raw(Buffer.from(value))
      .raw(Buffer.alloc(1));
  }

  /** The length counts from the first element, after its padding. */
  list(write: () => void, alignment = 4): this {
    const length = Buffer.alloc(4);
    this.pad(4).raw(length).pad(alignment);
    const start = this.bytes;
    write();
    length.writeUInt32LE(this.bytes - start);
    return this;
  }

  all(): Buffer {
    return Buffer.concat(this.#parts);
  }
}
