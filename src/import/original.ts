import type { WholeResponse } from '#checks/index.ts';

/** The verdict of another monitor on a response. */
export interface OriginalVerdict {
  readonly isUp: boolean;
  /** Why it is down; empty if it is up. */
  readonly reason: string;
}

/** Judges a response as another monitor does; null stands for no response. */
export type OriginalJudge = (response: WholeResponse | null) => Promise<OriginalVerdict>;

export const originallyUp: OriginalVerdict = { isUp: true, reason: '' };

export function originallyDown(reason: string): OriginalVerdict {
  return { isUp: false, reason };
}
