import type { Channel, Message, DeliveryReceipt, Renew } from '#monitor/notify/channel.ts';

export interface Attempt {
  readonly message: Message;
  readonly recipient: string;
  readonly signal: AbortSignal;
}

export const accepted: DeliveryReceipt = { kind: 'delivered', response: '250 ok' };
export const refusedForNow: DeliveryReceipt = { kind: 'retry', reason: '451 try again' };
export const refusedForGood: DeliveryReceipt = { kind: 'rejected', reason: '550 no such user' };

/** A channel that answers as it is told to, and remembers what it was given. */
export class RecordingChannel implements Channel {
  readonly name: string;
  attemptMs = 60_000;
  readonly renew: Renew | null = null;
  readonly attempts: Attempt[] = [];
  /** What `send` answers. */
  answer: (attempt: Attempt) => DeliveryReceipt | Promise<DeliveryReceipt> = () => accepted;

  constructor(name = 'email') {
    this.name = name;
  }

  get subjects(): readonly string[] {
    return this.attempts.map(({ message }) => message.content.subject);
  }

  get recipients(): readonly string[] {
    return this.attempts.map(({ recipient }) => recipient);
  }

  async send(message: Message, recipient: string, signal: AbortSignal): Promise<DeliveryReceipt> {
    const attempt = { message, recipient, signal };
    this.attempts.push(attempt);
    return this.answer(attempt);
  }

  async close(): Promise<void> {}
}

/** Answers nothing until the signal is aborted, then gives the attempt up, as a good channel does. */
export async function hang({ signal }: Attempt): Promise<DeliveryReceipt> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve({ kind: 'retry', reason: 'aborted' }), { once: true });
  });
}

/** Answers never, whatever the signal says, as a broken channel does. */
export async function ignoreEverything(): Promise<DeliveryReceipt> {
  return new Promise(() => {});
}
