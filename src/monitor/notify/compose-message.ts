import { createHash } from 'node:crypto';
import type { Delivery, MessageKind } from '../judge/delivery.ts';
import type { Incident } from '../judge/incident.ts';
import type { Message } from './channel.ts';
import { contentOfMany } from './content-of-many.ts';
import { contentOf, type ContentOptions, type MessageContent } from './content.ts';
import { type MessagePart, phaseOf } from './message-part.ts';
import type { MessageParts } from './next-message.ts';

const longestThread = 20;

export interface ComposeOptions extends ContentOptions {
  /** Distinguishes the messages of this installation from those of others that watch the same names; none by default. */
  readonly identity?: string | undefined;
}

/**
 * The message that tells these parts. `chosenId` is the id it went out with before, if it did.
 *
 * Threads: a message about what goes on or is over answers the messages about the beginnings; these may have been about
 * several incidents.
 */
export function composeMessage(parts: MessageParts, options: ComposeOptions, chosenId: string | null = null): Message {
  const [first, ...rest] = parts;
  const { identity = '' } = options;
  const kind = kindOf(parts);
  const id =
    chosenId ?? (rest.length === 0 ? messageId(first.sent, first.kind, identity) : groupId(kind, parts, identity));
  const roots = parts.flatMap((part) =>
    part.kind === 'opened' ? [] : [part.root ?? messageId(part.sent, 'opened', identity)],
  );
  return {
    kind,
    incidents: parts.map(({ incident }) => incident),
    id,
    references: [...new Set(roots)].slice(0, longestThread),
    beginnings: new Map(parts.flatMap(beginningOf)),
    links: new Map(parts.flatMap(({ incident }) => linkOf(incident, options))),
    content: withHubRemark(
      rest.length === 0 ? contentOf(first, options) : contentOfMany(kind, parts, options, id),
      options,
    ),
    at: Math.max(...parts.map(decidedAt)),
  };
}

/**
 * The id of the message of a kind about a delivery's incident to its recipient: a repeat has the same. A late message has one of
 * its own, because mail systems drop a second message with an id they have seen, and the first may have arrived after all.
 */
export function messageId({ incidentId, number, recipient }: Delivery, kind: MessageKind, identity = ''): string {
  return messageName(identity, [incidentId, kind, kind === 'opened' ? 1 : number, recipient]);
}

function withHubRemark(content: MessageContent, { hubRemark }: ContentOptions): MessageContent {
  const remark = hubRemark?.() ?? null;
  return remark === null ? content : { ...content, remarks: [...content.remarks, remark] };
}

function beginningOf({ kind, incident, rootReference }: MessagePart): readonly (readonly [string, string])[] {
  return kind === 'opened' || rootReference === null ? [] : [[incident.id, rootReference]];
}

function linkOf(incident: Incident, { linkTo }: ContentOptions): readonly (readonly [string, string])[] {
  const link = linkTo(incident);
  return link === null ? [] : [[incident.id, link]];
}

function groupId(kind: MessageKind, parts: MessageParts, identity: string): string {
  return messageName('', [kind, ...parts.map((part) => messageId(part.sent, part.kind, identity)).sort()]);
}

/** A fixed id for what a message tells, unlike that of any other installation. */
export function messageName(identity: string, about: readonly unknown[]): string {
  const name = identity === '' ? about : [identity, ...about];
  return createHash('sha256').update(JSON.stringify(name)).digest('hex').slice(0, 32);
}

function kindOf([first, ...rest]: MessageParts): MessageKind {
  if (rest.every(({ kind }) => kind === first.kind)) return first.kind;
  return rest.every(({ kind }) => phaseOf(kind) === phaseOf(first.kind)) ? 'resolved' : 'digest';
}

function decidedAt({ kind, sent, merged }: MessagePart): number {
  return kind === 'late' ? Math.max(sent.createdAt, ...merged.map(({ createdAt }) => createdAt)) : sent.createdAt;
}
