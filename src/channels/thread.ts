import type { Message } from '#monitor/notify/channel.ts';
import type { MessageContent } from '#monitor/notify/content.ts';

/** The reference that the other side gave the first message about these incidents; null if there was none, or more than one. */
export function firstReference({ incidents, beginnings }: Pick<Message, 'incidents' | 'beginnings'>): string | null {
  const names = new Set(incidents.map(({ id }) => beginnings.get(id) ?? null));
  const [only] = names;
  return names.size === 1 ? (only ?? null) : null;
}

/** Whether a message makes the first one outdated: the incident is over, or its cause has changed. */
export function replacesFirst({ kind }: Pick<MessageContent, 'kind'>): boolean {
  return kind === 'update' || kind === 'resolved' || kind === 'closed';
}
