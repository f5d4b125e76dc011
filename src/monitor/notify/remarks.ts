import { singleLine } from '#kernel/text.ts';
import { formatTime } from '#kernel/zoned-time.ts';
import type { Incident, StatedDoubt } from '../judge/incident.ts';
import type { MessagePart } from './message-part.ts';

/** Why news comes later than it might have, though it could be delivered. */
export function suppressionRemarks({ lateReason }: MessagePart['incident']): readonly string[] {
  return lateReason === null ? [] : [`This notification is late, for ${singleLine(lateReason)}.`];
}

/** What a phrase about an incident says with what was in doubt when it was notified: `is down, or this Watchpost is cut off`. */
export function withDoubt(phrase: string, { doubt }: Pick<Incident, 'doubt'>): string {
  return doubt === undefined ? phrase : `${phrase}, or ${singleLine(doubt.or)}`;
}

/** The past of something that was in doubt: `was down or unreachable`. */
export function wasInDoubt(was: string, { doubt }: Pick<Incident, 'doubt'>): string {
  return doubt === undefined ? was : `${was} or unreachable`;
}

/** Why something was in doubt: `no other target has been seen up since 2026-01-01 18:02:00 UTC`. */
function doubtInWords({ why, since }: StatedDoubt, zone: string): string {
  return singleLine(since === null ? why : `${why} since ${formatTime(since, zone)}`);
}

const mostDoubts = 3;

/** What was in doubt about these incidents, in a sentence each. */
export function doubtsOf(incidents: readonly Pick<Incident, 'doubt'>[], zone: string): readonly string[] {
  const all = incidents.flatMap(({ doubt }) => (doubt === undefined ? [] : [doubtInWords(doubt, zone)]));
  return [...new Set(all)].slice(0, mostDoubts).map((words) => `In doubt: ${words}.`);
}

/** Why the news of a beginning comes later than it might have. */
export function lateness({ incident, sent }: MessagePart): readonly string[] {
  return [
    ...suppressionRemarks(incident),
    ...(sent.lastError === null
      ? []
      : [`This notification is late because it could not be delivered: ${singleLine(sent.lastError)}.`]),
  ];
}

/** Why one message tells that something began and is over. */
export function delay({ sent: { lastError: trouble }, mayBeKnown }: MessagePart): readonly string[] {
  if (trouble === null) return ['It was over before this mail was sent.'];
  if (mayBeKnown) return [`An earlier mail about this may not have arrived: ${singleLine(trouble)}`];
  return [
    'This mail was delayed: nothing could be delivered before it was over.',
    `The last attempt failed: ${singleLine(trouble)}`,
  ];
}

const mostUnreached = 3;

/** Other recipients of these incidents that could not be notified. */
export function unreachedRemarks(parts: readonly MessagePart[]): readonly string[] {
  const found = new Map(
    parts.flatMap(({ unreached }) => unreached.map((one) => [`${one.channel} ${one.recipient}`, one])),
  );
  const all = [...found.values()];
  const more = all.length - mostUnreached;
  return [
    ...all
      .slice(0, mostUnreached)
      .map(
        ({ channel, recipient, reason }) =>
          `${singleLine(recipient, 80)} (${channel}) could not be notified so far: ${singleLine(reason, 120)}.`,
      ),
    ...(more > 0 ? [`${more} more could not be notified so far.`] : []),
  ];
}

/** Why the news of some comes late, each reason once. */
export function lateRemarks(parts: readonly MessagePart[]): readonly string[] {
  const reasons = Map.groupBy(
    parts.flatMap((part) => lateReasons(part)),
    (reason) => reason,
  );
  return [...reasons].map(([reason, all]) => {
    const whom = all.length === parts.length ? 'all of this' : `${all.length} of ${parts.length}`;
    return `Late for ${whom}: ${reason}.`;
  });
}

function lateReasons({ incident, sent }: MessagePart): readonly string[] {
  return [
    ...(incident.lateReason === null ? [] : [singleLine(incident.lateReason)]),
    ...(sent.lastError === null ? [] : [`it could not be delivered: ${singleLine(sent.lastError)}`]),
  ];
}
