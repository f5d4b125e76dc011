import { createHmac, timingSafeEqual } from 'node:crypto';
import type { RecipientAddress, Incident } from '../judge/incident.ts';

/** The content of an acknowledgement link: the id of an incident, or of a message about several; and its recipient. */
export type AcknowledgementLink = RecipientAddress & ({ readonly incident: string } | { readonly message: string });

/** Links by which the reader of a message acknowledges its incidents. They cannot be forged. */
export interface Acknowledgements {
  tokenFor(incident: Pick<Incident, 'id'>, to: RecipientAddress): string;
  /** About everything that a message of this id tells. */
  tokenForAll(message: string, to: RecipientAddress): string;
  /** What a token says; null if it was not made with this key. */
  read(token: string): AcknowledgementLink | null;
}

const signatureBytes = 18;
// Tokens of earlier versions say nothing here.
const all = 'all';

/** The tokens are the same whenever they are made, so that a repeated message is the same message. */
export function createAcknowledgements(key: string): Acknowledgements {
  const sign = (payload: string) =>
    createHmac('sha256', key)
      .update(`acknowledge ${payload}`)
      .digest()
      .subarray(0, signatureBytes)
      .toString('base64url');
  const tokenOf = (about: readonly string[]) => {
    const payload = Buffer.from(JSON.stringify(about)).toString('base64url');
    return `${payload}.${sign(payload)}`;
  };
  return {
    tokenFor: ({ id }, { channel, recipient }) => tokenOf([id, channel, recipient]),
    tokenForAll: (message, { channel, recipient }) => tokenOf([message, channel, recipient, all]),
    read(token) {
      const [payload = '', signature = '', ...more] = token.split('.');
      const [given, right] = [Buffer.from(signature), Buffer.from(sign(payload))];
      if (more.length > 0 || given.length !== right.length || !timingSafeEqual(given, right)) return null;
      const [about, ...rest]: unknown[] = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
      const [channel, recipient, kind] = rest;
      const to = { channel: String(channel), recipient: String(recipient) };
      return kind === all ? { message: String(about), ...to } : { incident: String(about), ...to };
    },
  };
}
