import type { FleetHub } from '../support/fleet.ts';
import { type FleetHistory, snapshotOf } from '../support/fleet-history.ts';
import { eventually } from '../support/program.ts';

/** A time in which the target of a fleet was away. */
export interface FleetOutage {
  readonly from: number;
  readonly to: number;
}

// As the store numbers outcomes: up, down, unknown.
const unknownStatus = 2;

export interface HubHistory {
  readonly name: string;
  readonly history: FleetHistory;
}

/** The histories of all hubs at the same position of the log. Rounds go on meanwhile. */
export async function historiesOf(hubs: readonly FleetHub[]): Promise<readonly HubHistory[]> {
  return eventually(60_000, () => {
    const histories = hubs.map((hub) => ({ name: hub.name, ...snapshotOf(hub) }));
    const positions = new Set(histories.map(({ position }) => position));
    if (positions.size > 1) throw new Error(`the positions differ: ${[...positions].join()}`);
    return histories;
  });
}

/** What the histories say that is not so, in words. */
export function faultsOf(
  [first, ...others]: readonly HubHistory[],
  outages: readonly FleetOutage[],
  toleranceMs: number,
): readonly string[] {
  if (first === undefined) return ['there is no hub'];
  const faults: string[] = [];
  const { history } = first;
  for (const { name, history: theirs } of others)
    for (const part of Object.keys(history) as (keyof FleetHistory)[]) {
      const [one, two] = [JSON.stringify(history[part]), JSON.stringify(theirs[part])];
      if (one !== two)
        faults.push(`${part} of ${first.name} and ${name} differ: ${difference(history[part], theirs[part])}`);
    }
  const incidents = history.incidents
    .filter(({ rule }) => rule === 'quick')
    .map(({ id, started_at: from, ended_at: to }) => ({ id: String(id), from: Number(from), to: Number(to) }));
  for (const { from, to } of outages) {
    const found = incidents.filter((one) => one.from < to + toleranceMs && one.to > from - toleranceMs);
    if (found.length !== 1) faults.push(`outage of ${timeOf(from)} has ${found.length} incidents`);
  }
  for (const { id, from, to } of incidents) {
    const isTrue = outages.some((one) => from < one.to + toleranceMs && to > one.from - toleranceMs);
    if (!isTrue) faults.push(`incident ${id} has no outage`);
  }
  for (const { incident_id: incident, kind, state } of history.deliveries)
    if (state !== 'sent' && state !== 'merged')
      faults.push(`${String(kind)} of ${String(incident)} is ${String(state)}`);
  return faults;
}

/** Rounds of the target, which is checked every second, and how many due times between the first and the last have no result of any node. */
export function roundsIn(histories: readonly HubHistory[]): { readonly rounds: number; readonly missing: number } {
  const results = histories[0]?.history.results ?? [];
  const answered = results.filter(({ target, status }) => target === 'shop' && status < unknownStatus);
  const due = [...new Set(answered.map(({ due_at: at }) => Math.round(at / 1_000)))].toSorted((a, b) => a - b);
  const [first = 0, last = -1] = [due[0], due.at(-1)];
  return { rounds: due.length, missing: last - first + 1 - due.length };
}

function difference(one: readonly object[], two: readonly object[]): string {
  const beyond = (own: readonly object[], other: readonly object[]) => {
    const known = new Set(other.map((row) => JSON.stringify(row)));
    return (JSON.stringify(own.find((row) => !known.has(JSON.stringify(row)))) ?? 'nothing').slice(0, 300);
  };
  return `${one.length} and ${two.length} rows, only in the first ${beyond(one, two)}, only in the other ${beyond(two, one)}`;
}

const timeOf = (at: number) => new Date(at).toISOString();
