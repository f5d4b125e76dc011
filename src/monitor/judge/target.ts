import type { CheckSpec, NodeSelection } from '#checks/index.ts';
import type { Objective } from '#history/reader.ts';
import type { Schedule } from '#schedule/schedule.ts';
import type { Recipient } from './recipient.ts';
import type { Rule } from './rule.ts';

export interface NamedRule {
  readonly name: string;
  readonly rule: Rule;
}

/** A configured spec with its schedule, nodes, rules and recipients. */
export interface Target {
  readonly name: string;
  readonly spec: CheckSpec;
  readonly schedule: Schedule;
  readonly nodes: NodeSelection;
  readonly rules: readonly NamedRule[];
  readonly recipients: readonly Recipient[];
  readonly labels: Readonly<Record<string, string>>;
  /** Targets without which this one cannot be reached: its notifications are suppressed while one of them is down. */
  readonly dependsOn: readonly string[];
  /** What it promises; null if it promises nothing. */
  readonly objective: Objective | null;
}
