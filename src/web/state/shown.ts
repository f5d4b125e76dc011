/** How a target is shown. */
export type ShownStatus = 'up' | 'partial' | 'down' | 'unknown' | 'maintenance';

/** How a target is shown to people: one that was never checked is not in trouble. */
export type ShownState = ShownStatus | 'waiting';

/** From when on a target was in a state. */
export interface StateChange {
  readonly status: ShownStatus;
  readonly from: number;
}

interface StateInput {
  readonly status: ShownStatus;
  readonly firstDueAt: number | null | undefined;
}

export const stateOf = ({ status, firstDueAt }: StateInput): ShownState =>
  firstDueAt === undefined ? status : 'waiting';
