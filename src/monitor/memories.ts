import type { OwnIncidents } from './suppress/own-incidents.ts';
import type { Memory } from './judge/decide.ts';
import { type Incident, isAboutUs } from './judge/incident.ts';
import type { RoundRecord, StoredTarget } from './judge/round-record.ts';

/** The open incidents of our own. */
export function ownOf(stored: readonly StoredTarget[]): readonly Incident[] {
  return stored.filter(({ target }) => isAboutUs(target)).flatMap(({ openIncidents }) => openIncidents);
}

/** The open incidents of targets. */
export function openIn(memories: ReadonlyMap<string, Memory>): readonly Incident[] {
  return [...memories.values()].flatMap(({ openIncidents }) => [...openIncidents.values()]);
}

/** What is remembered about each target when the program starts. */
export function memoriesOf(stored: readonly StoredTarget[]): Map<string, Memory> {
  const memories = stored
    .filter(({ target }) => !isAboutUs(target))
    .map(({ target, states, openIncidents }): [string, Memory] => [
      target,
      {
        states: new Map(states.map((state) => [state.rule, state])),
        openIncidents: new Map(openIncidents.map((incident) => [incident.id, incident])),
      },
    ]);
  return new Map(memories);
}

/** Acknowledges an open incident. Gives what has to be stored, or null if there is no such incident. */
export function acknowledge(
  own: Pick<OwnIncidents, 'acknowledge'>,
  memories: Map<string, Memory>,
  id: string,
  acknowledged: NonNullable<Incident['acknowledged']>,
): RoundRecord | null {
  for (const [target, memory] of memories) {
    const known = memory.openIncidents.get(id);
    if (known === undefined) continue;
    const incident = { ...known, acknowledged };
    memories.set(target, { ...memory, openIncidents: new Map(memory.openIncidents).set(id, incident) });
    return { target, dueAt: acknowledged.at, votes: [], states: [], incidents: [incident], deliveries: [] };
  }
  return own.acknowledge(id, acknowledged);
}
