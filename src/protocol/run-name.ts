/** A round of a target, as it is stored. */
export interface RoundKey {
  readonly target: string;
  /** Milliseconds since the epoch. */
  readonly dueAt: number;
}

/** The name of the run for a round: its results are sent, and come back late, under it. */
export const formatRunName = ({ target, dueAt }: RoundKey) => `${target}/${dueAt}`;

/** The round that a run's name stands for, or null if it stands for none. */
export function parseRunName(name: string): RoundKey | null {
  const [, target, dueAt] = /^(.+)\/(\d{1,15})$/.exec(name) ?? [];
  return target === undefined ? null : { target, dueAt: Number(dueAt) };
}
