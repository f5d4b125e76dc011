import type * as bson from 'bson';
import { messageOf } from '#kernel/errors.ts';
import { mostBytes, type OpenStream } from '../database/open-stream.ts';
import { EarlyEnd } from '../database/session.ts';
import { ProtocolFault } from './scram.ts';

export type Bson = typeof bson;

/** The server answered a command with an error. */
export class CommandRefusal extends Error {
  override readonly name = 'CommandRefusal';
}

const opMsg = 2_013;
const headerBytes = 16;
// Behind the header: flags, the kind of the section, and an empty document.
const leastBytes = headerBytes + 4 + 1 + 5;
const checksumPresent = 1;

/** Commands and replies over an open connection, one after the other (MongoDB's wire protocol, OP_MSG). */
export class MongoConnection {
  readonly #stream: OpenStream;
  readonly #parts: AsyncIterator<unknown>;
  readonly #bson: Bson;
  #pieces: Buffer[] = [];
  #received = 0;
  #request = 0;

  constructor(stream: OpenStream, bson: Bson) {
    this.#stream = stream;
    this.#parts = stream[Symbol.asyncIterator]();
    this.#bson = bson;
  }

  /**
   * The reply to a command. Rejects with a `CommandRefusal`, a `ProtocolFault`, an `EarlyEnd`, a `RangeError` for a message of more
   * than 1 MiB, or the error of the stream.
   */
  async run(database: string, command: bson.Document): Promise<bson.Document> {
    this.#request += 1;
    this.#stream.write(this.#encode({ ...command, $db: database }));
    const reply = this.#decode(await this.#next());
    if (Number(reply['ok']) === 1) return reply;
    throw new CommandRefusal(wordsOf(reply));
  }

  #encode(document: bson.Document): Buffer {
    const body = this.#bson.serialize(document);
    const head = Buffer.alloc(headerBytes + 5);
    head.writeInt32LE(head.length + body.length, 0);
    head.writeInt32LE(this.#request, 4);
    head.writeInt32LE(opMsg, 12);
    return Buffer.concat([head, body]);
  }

  async #next(): Promise<Buffer> {
    const head = await this.#take(headerBytes);
    if (head.readInt32LE(12) !== opMsg || head.readInt32LE(8) !== this.#request)
      throw new ProtocolFault('what answers does not speak the protocol of MongoDB');
    const length = head.readInt32LE(0);
    if (length < leastBytes) throw new ProtocolFault(`the server announces a message of ${length} bytes`);
    if (length > mostBytes)
      throw new RangeError(`the server announces a message of ${length} bytes: more than ${mostBytes}`);
    return this.#take(length - headerBytes);
  }

  #decode(message: Buffer): bson.Document {
    const flags = message.readUInt32LE(0);
    if ((flags & ~checksumPresent) !== 0 || message[4] !== 0)
      throw new ProtocolFault('the reply of the server has flags or sections that were not asked for');
    const body = message.subarray(5, (flags & checksumPresent) === 0 ? undefined : -4);
    try {
      return this.#bson.deserialize(body, { bsonRegExp: true });
    } catch (error) {
      throw new ProtocolFault(`the reply of the server is no BSON: ${messageOf(error)}`, { cause: error });
    }
  }

  // A server may send a message byte by byte, so that the pieces are joined once.
  async #take(bytes: number): Promise<Buffer> {
    while (this.#received < bytes) {
      const { done, value } = await this.#parts.next();
      if (done === true) throw new EarlyEnd();
      if (!(value instanceof Buffer)) continue;
      this.#pieces.push(value);
      this.#received += value.length;
    }
    const all = Buffer.concat(this.#pieces);
    this.#pieces = [all.subarray(bytes)];
    this.#received -= bytes;
    return all.subarray(0, bytes);
  }
}

function wordsOf({ errmsg, codeName, code }: bson.Document): string {
  if (typeof errmsg === 'string' && errmsg !== '') return errmsg;
  return typeof codeName === 'string' ? codeName : `error ${typeof code === 'number' ? code : 'without a code'}`;
}
