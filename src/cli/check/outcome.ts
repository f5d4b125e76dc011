import { checkOf, type CheckSpec, type Failure, familyTimes, type Outcome } from '#checks/index.ts';
import { formatSeconds } from '#kernel/units.ts';
import type { StateColor } from '../shared/paint.ts';

/** 0 up, 1 down, 3 unknown. */
export function exitCodeOf(status: Outcome['status']): number {
  return { up: 0, down: 1, unknown: 3 }[status];
}

/** One outcome for people: the answer first, then the figures, then what the check type found besides. */
export function describeOutcome(spec: CheckSpec, outcome: Outcome, paint: StateColor): string {
  const { status, seconds, address, phases } = outcome;
  const figures = [
    ...(address === null || spec.host === address ? [] : [line('address', address)]),
    ...(seconds === null ? [] : [line('took', formatSeconds(seconds))]),
    ...familyTimes(outcome).map(({ family, seconds: one }) => line(`  ${family}`, formatSeconds(one))),
    ...Object.entries(phases).map(([phase, took]) => line(`  ${phase.replace('_', ' ')}`, formatSeconds(took))),
  ];
  const lines = [
    `${paint(status, status.toUpperCase())}  ${spec.type} ${spec.host}`,
    ...(status === 'up' ? [] : failureLines(outcome.failure).map(indented)),
    ...figures.map(indented),
    ...checkOf(spec.type).lines(outcome).map(indented),
  ];
  return `${lines.join('\n')}\n`;
}

const faults: Readonly<Record<Failure['source'], string>> = {
  target: "the target's fault",
  resolver: 'the fault of name resolution, not known to be the target',
  node: "this machine's doing, not the target's",
  service: "the check service's fault, not the target's",
  third_party: "the fault of a third party that the check needs, not the target's",
};

/** Why there is no good outcome and whose fault it is, in words. */
function failureLines({ source, code, message }: Failure): readonly string[] {
  return [message, `(${code}: ${faults[source]})`];
}

const indented = (text: string) => `  ${text}`;

const line = (name: string, value: string) => `${name.padEnd(12)} ${value}`;
