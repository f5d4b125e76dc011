import { checkOf } from '#checks/index.ts';
import type { Config } from '#config/config.ts';
import type { Clock } from '#kernel/clock.ts';
import { dayMs } from '#kernel/units.ts';
import type { Incident } from '#monitor/judge/incident.ts';
import { describeRule } from '#monitor/judge/rule.ts';
import { createNextDue, longestInterval } from '#schedule/schedule.ts';
import { type Board, createBoard } from '#web/state/board.ts';

export interface BoardSources {
  readonly inForce: () => Config;
  readonly openIncidents: () => readonly Incident[];
  readonly clock: Clock;
}

/** The live state of the targets that are watched now. */
export function boardOf({ inForce, openIncidents, clock }: BoardSources): Board {
  const watched = ({ name, spec, labels, rules, schedule, objective }: Config['targets'][number]) => {
    const everyMs = longestInterval(schedule, name, clock.now());
    return {
      everyMs,
      holdsMs: 3 * (everyMs ?? dayMs) + 60_000,
      nextDue: createNextDue(schedule, name),
      name,
      check: spec.type,
      host: spec.host,
      labels,
      hasObjective: objective !== null,
      rules: rules.map(({ name: rule, rule: one }) => ({
        name: rule,
        words: describeRule(one, checkOf(spec.type)),
        severity: one.severity,
      })),
    };
  };
  // Configured targets change by a reload only, and then they are other objects.
  let known: { readonly of: Config['targets']; readonly all: ReturnType<typeof watched>[] } | null = null;
  return createBoard({
    clock,
    openIncidents,
    watched() {
      const { targets } = inForce();
      if (known?.of !== targets) known = { of: targets, all: targets.map(watched) };
      return known.all;
    },
  });
}
