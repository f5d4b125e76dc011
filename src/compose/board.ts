import { type CheckSpec, checkOf } from '#checks/index.ts';
import type { Config } from '#config/config.ts';
import type { Clock } from '#kernel/clock.ts';
import { sharing } from '#kernel/sharing.ts';
import { dayMs } from '#kernel/units.ts';
import type { Incident } from '#monitor/judge/incident.ts';
import { createExpected } from '#monitor/heartbeats/expected.ts';
import { describeRule } from '#monitor/judge/rule.ts';
import { createNextDue, longestInterval, type Schedule } from '#schedule/schedule.ts';
import { type Board, type BoardTarget, createBoard } from '#web/state/board.ts';

export interface BoardSources {
  readonly inForce: () => Config;
  readonly openIncidents: () => readonly Incident[];
  readonly clock: Clock;
}

/** The live state of the targets that are watched now. */
export function boardOf({ inForce, openIncidents, clock }: BoardSources): Board {
  const watched = (
    { name, spec, labels, rules, schedule, objective }: Config['targets'][number],
    once: (rules: BoardTarget['rules']) => BoardTarget['rules'],
  ) => {
    const everyMs = longestInterval(schedule, name, clock.now());
    return {
      everyMs,
      holdsMs: 3 * (everyMs ?? dayMs) + 60_000,
      nextDue: createNextDue(schedule, name),
      nextPing: nextPingOf(spec, schedule),
      name,
      check: spec.type,
      host: spec.host,
      labels,
      hasObjective: objective !== null,
      rules: once(
        rules.map(({ name: rule, rule: one }) => ({
          name: rule,
          words: describeRule(one, checkOf(spec.type)),
          severity: one.severity,
        })),
      ),
    };
  };
  // Most targets have the same rules.
  const watchedOf = (targets: Config['targets']) => {
    const once = sharing<BoardTarget['rules']>();
    return targets.map((target) => watched(target, once));
  };
  // Configured targets change by a reload only, and then they are other objects.
  let known: { readonly of: Config['targets']; readonly all: ReturnType<typeof watched>[] } | null = null;
  return createBoard({
    clock,
    openIncidents,
    watched() {
      const { targets } = inForce();
      if (known?.of !== targets) known = { of: targets, all: watchedOf(targets) };
      return known.all;
    },
  });
}

// Cron starts a job, whatever it took before; others call at an interval.
function nextPingOf(spec: CheckSpec, schedule: Schedule): BoardTarget['nextPing'] {
  const settings = checkOf(spec.type).heard?.(spec) ?? null;
  if (settings === null) return null;
  const expected = createExpected(schedule, settings);
  return ({ at, seconds }) => expected.afterPing(schedule.kind === 'cron' ? at - (seconds ?? 0) * 1_000 : at);
}
