/** An outage of a target as it really was, in milliseconds since 1970. */
export interface Outage {
  readonly target: string;
  readonly from: number;
  readonly to: number;
  /** `required`: beginning and end are to be notified. `allowed`: so short that both are right, but a beginning needs its end. */
  readonly kind: 'required' | 'allowed';
}

/** What a mail reported, when it was in the mailbox. */
export interface Reported {
  readonly at: number;
  readonly began: readonly string[];
  readonly ended: readonly string[];
}

export interface Verdict {
  /** Beginnings and ends that were to be notified. */
  readonly due: number;
  /** Those of `due` that were. */
  readonly came: number;
  /** Seconds from the truth to the mailbox for each that came, beginnings and ends. */
  readonly late: readonly number[];
  /** Mails that had nothing new. */
  readonly repeated: number;
  /** Mails that reported the beginning of an outage that was none, and the targets that they named. */
  readonly falseMails: number;
  readonly falseTargets: number;
}

interface OutageState extends Outage {
  hasBegun: boolean;
  hasEnded: boolean;
}

/** How long after the end of an outage a mail may still say that it goes on, even if another has reported the end: they may cross. */
const graceMs = 30_000;

/** Compares the mails that one recipient got from one system with the truth. */
export function judge(outages: readonly Outage[], mails: readonly Reported[]): Verdict {
  const states: OutageState[] = outages.map((outage) => ({ ...outage, hasBegun: false, hasEnded: false }));
  const late: number[] = [];
  let [due, came, repeated, falseMails, falseTargets] = [0, 0, 0, 0, 0];
  const count = (outage: Outage, from: number, at: number) => {
    if (outage.kind !== 'required') return;
    came += 1;
    late.push(Math.max(0, at - from) / 1_000);
  };
  /** Targets that were reported down without being so: the end of that is no news of an outage, and not false again. */
  const wronged = new Set<string>();

  for (const { at, began, ended } of mails.toSorted((one, other) => one.at - other.at)) {
    let [isNew, wrong] = [false, 0];
    for (const target of began) {
      const past = states.filter((state) => state.target === target && state.from <= at);
      const begun = past.findLast(({ hasBegun, hasEnded }) => !hasBegun && !hasEnded);
      // Mails about others, or about the end, may name it again.
      const isGoingOn = past.some(({ hasBegun, hasEnded, to }) => hasBegun && (!hasEnded || at <= to + graceMs));
      if (begun !== undefined) {
        begun.hasBegun = true;
        isNew = true;
        count(begun, begun.from, at);
      } else if (!isGoingOn && !wronged.has(target)) {
        wronged.add(target);
        wrong += 1;
        isNew = true;
      }
    }
    for (const target of ended) {
      const over = states.filter((state) => state.target === target && !state.hasEnded && state.to <= at);
      const reported = over.filter(({ hasBegun }) => hasBegun);
      // Without a mail about the beginning, one about the end still reports the outage that ended last.
      for (const state of reported.length > 0 ? reported : over.slice(-1)) {
        state.hasEnded = true;
        isNew = true;
        count(state, state.to, at);
      }
      // An outage that began while an earlier one was still reported is part of the same incident: one mail reported both.
      const [first] = reported;
      if (first !== undefined) {
        for (const state of states) {
          if (state.target !== target || state.hasBegun || state.hasEnded || state.from < first.from || state.to > at)
            continue;
          [state.hasBegun, state.hasEnded] = [true, true];
          count(state, at, at);
          count(state, state.to, at);
        }
      }
      if (wronged.delete(target)) isNew = true;
    }
    if (wrong > 0) falseMails += 1;
    falseTargets += wrong;
    if (!isNew && began.length + ended.length > 0) repeated += 1;
  }

  for (const state of states) {
    if (state.kind === 'required') due += 2;
    // What was reported has to be reported as over, unless a later outage of the same target took its place.
    else if (state.hasBegun && !state.hasEnded) due += 1;
  }
  return { due, came, late, repeated, falseMails, falseTargets };
}

interface Clarity {
  readonly target: boolean;
  readonly reason: boolean;
  readonly time: boolean;
}

const reasons =
  /refused|time[d -]*out|no answer|no data received|reset|invalid|packet loss|503|unavailable|certificate|slow|latency|response time|too long|unreachable|no route|resol(?:ve|ution)|name server/i;

/** Whether a person who has only the mail can tell what failed, why and when. */
export function clarityOf(names: readonly string[], text: string): Clarity {
  return { target: names.length > 0, reason: reasons.test(text), time: /\d\d:\d\d/.test(text) };
}
