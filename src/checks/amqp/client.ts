import { AMQPBaseClient, AMQPError } from '@cloudamqp/amqp-client';
import { AMQPView } from '@cloudamqp/amqp-client/amqp-view';
import type { Duplex } from 'node:stream';

// AMQP 0-9-1, section 4.2.2.
const protocolHeader = Buffer.from([65, 77, 81, 80, 0, 0, 9, 1]);
// Section 4.2.3: type, channel and size before what a frame holds, and one octet after it.
const headBytes = 7;
const largestFrame = 131_072;

export interface AmqpLogin {
  readonly vhost: string;
  readonly username: string;
  readonly password: string;
}

/** An AMQP client over a connection that is open already. */
export class OpenAmqpClient extends AMQPBaseClient {
  readonly #stream: Duplex;
  #waiting: Buffer = Buffer.alloc(0);

  constructor(stream: Duplex, { vhost, username, password }: AmqpLogin) {
    super(vhost, username, password, 'watchpost');
    this.#stream = stream;
  }

  override async connect(): Promise<AMQPBaseClient> {
    return new Promise((resolve, reject) => {
      this.connectPromise = [resolve, reject];
      this.#stream.on('data', (piece: Buffer) => this.#take(piece));
      this.#stream.write(protocolHeader);
    });
  }

  override async send(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#stream.write(bytes, (error) => (error === null || error === undefined ? resolve() : reject(error)));
    });
  }

  protected override closeSocket(): void {
    this.closed = true;
    this.#stream.end();
  }

  #take(piece: Buffer): void {
    this.#waiting = this.#waiting.length === 0 ? piece : Buffer.concat([this.#waiting, piece]);
    try {
      this.#readFrames();
    } catch (error) {
      this.#stream.destroy(error instanceof Error ? error : new AMQPError(String(error), this));
    }
  }

  #readFrames(): void {
    // A broker of another version answers with the header that it wants (section 4.2.2).
    if (this.#waiting.subarray(0, 4).toString('latin1') === 'AMQP')
      throw new AMQPError('the broker speaks another version of AMQP than 0-9-1', this);
    while (this.#waiting.length >= headBytes) {
      const size = this.#waiting.readUInt32BE(3);
      if (size > largestFrame) throw new AMQPError('the answer is not AMQP', this);
      const whole = headBytes + size + 1;
      if (this.#waiting.length < whole) return;
      const frame = new AMQPView(this.#waiting.buffer, this.#waiting.byteOffset, whole);
      this.#waiting = this.#waiting.subarray(whole);
      this.parseFrames(frame);
    }
  }
}
