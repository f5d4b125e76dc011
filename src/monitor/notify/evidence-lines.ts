import { singleLine } from '#kernel/text.ts';
import type { Incident } from '../judge/incident.ts';
import type { MessagePart } from './message-part.ts';

/** What evidence says of an incident; of one of many nothing, rather than why it was not examined. */
export type EvidenceReader = (incident: Incident, isOneOfMany: boolean) => readonly string[];

interface EvidenceLookup {
  readonly evidenceOf?: EvidenceReader | undefined;
}

const longestLine = 300;
const mostLines = 3;
const mostIncidents = 100;
const mostNames = 5;

/** What evidence says of the cause of an incident, in at most three sentences; none if nothing is known by now. */
export function evidenceOf(
  incident: Incident,
  { evidenceOf: find }: EvidenceLookup,
  isOneOfMany = false,
): readonly string[] {
  const lines = (find?.(incident, isOneOfMany) ?? []).slice(0, mostLines).map((line) => singleLine(line, longestLine));
  return incident.endedAt === null ? lines : lines.map((line) => `When it failed: ${line}`);
}

/** The first sentence about each of several incidents, with the targets for which it is the same; those of most targets. */
export function evidenceOfMany(parts: readonly MessagePart[], options: EvidenceLookup): readonly string[] {
  const found = parts.slice(0, mostIncidents).flatMap(({ incident }) => {
    const [line] = evidenceOf(incident, options, parts.length > 1);
    return line === undefined ? [] : [{ line, target: singleLine(incident.target, 40) }];
  });
  return [...Map.groupBy(found, ({ line }) => line)]
    .toSorted(([, one], [, other]) => other.length - one.length)
    .slice(0, mostLines)
    .map(([line, all]) => `${namesIn(all.map(({ target }) => target))}: ${line}`);
}

function namesIn(names: readonly string[]): string {
  const more = names.length - mostNames;
  return more > 1 ? `${names.slice(0, mostNames).join(', ')} and ${more} more` : names.join(', ');
}
