import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Addressee, Incident } from '../judge/incident.ts';

/** What a link to acknowledge says. */
export interface AcknowledgementLink extends Addressee {
  /** The id of the incident. */
  readonly incident: string;
}

/** Links by which whoever got a message can say that they know: nobody else can make one, and each is about one incident. */
export interface Acknowledgements {
  tokenFor(incident: Pick<Incident, 'id'>, to: Addressee): string;
  /** What a token says; null where it was not made with this key. */
  read(token: string): AcknowledgementLink | null;
}

const signatureBytes = 18;

/** The tokens are the same whenever they are made, so that a repeated message is the same message. */
export function createAcknowledgements(key: string): Acknowledgements {
  const sign = (payload: string) =>
    createHmac('sha256', key)
      .update(`acknowledge ${payload}`)
      .digest()
      .subarray(0, signatureBytes)
      .toString('base64url');
  return {
    tokenFor({ id }, { channel, recipient }) {
      const payload = Buffer.from(JSON.stringify([id, channel, recipient])).toString('base64url');
      return `${payload}.${sign(payload)}`;
    },
    read(token) {
      const [payload = '', signature = '', ...more] = token.split('.');
      const [given, right] = [Buffer.from(signature), Buffer.from(sign(payload))];
      if (more.length > 0 || given.length !== right.length || !timingSafeEqual(given, right)) return null;
      const [incident, channel, recipient]: unknown[] = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
      return { incident: String(incident), channel: String(channel), recipient: String(recipient) };
    },
  };
}
