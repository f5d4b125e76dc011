import type { Severity } from './rule.ts';

/** A recipient: an address behind a channel, and the entry under `notify` that it comes from. */
export interface Recipient {
  /** The key under `notify` that names it; the first if there are several. */
  readonly notify: string;
  readonly channel: string;
  readonly recipient: string;
  /** The severities that it takes, under all of these keys together. */
  readonly severities: readonly Severity[];
  /** For how long an incident has to go on before it is notified; at once without. */
  readonly afterMs?: number;
}

/** Each recipient once: one that is under two names gets one message, not two. */
export function mergeRecipients(all: readonly Recipient[]): readonly Recipient[] {
  const found = new Map<string, Recipient>();
  for (const one of all) {
    const key = JSON.stringify([one.channel, one.recipient]);
    const known = found.get(key);
    const severities = [...new Set([...(known?.severities ?? []), ...one.severities])];
    found.set(key, { ...(known ?? one), severities });
  }
  return [...found.values()];
}
