import {
  CheckSpec,
  failed,
  failure,
  type FailureCode,
  type FailureSource,
  type NodeInfo,
  type Outcome,
} from '#checks/index.ts';
import type { Vote } from '#monitor/judge/vote.ts';

export function nodeInfo(name: string, about: Partial<NodeInfo> = {}): NodeInfo {
  return {
    name,
    countryCode: 'de',
    country: 'Germany',
    city: 'Frankfurt',
    asn: 'AS64500',
    ip: '192.0.2.10',
    ...about,
  };
}

export function up(seconds = 0.02, known: Partial<Pick<Outcome, 'phases' | 'facts' | 'address'>> = {}): Outcome {
  return { status: 'up', seconds, address: '192.0.2.1', phases: {}, facts: {}, detail: {}, ...known };
}

/** Down where the source is the target, unknown otherwise. */
export function notUp(code: FailureCode, source: FailureSource = 'target', seconds: number | null = null): Outcome {
  return failed(failure(source, code, `it was ${code} at 192.0.2.1`), { seconds });
}

export const down = () => notUp('refused');
export const unknown = () => notUp('no_answer', 'node');

/** A vote of each node, named `zz1`, `zz2` and so on. */
export function votes(...outcomes: readonly Outcome[]): readonly Vote[] {
  return outcomes.map((outcome, index) => ({ node: nodeInfo(`zz${index + 1}`), outcome }));
}

const places: Readonly<Record<string, Partial<NodeInfo>>> = {
  us1: { countryCode: 'us', country: 'USA', city: 'Los Angeles' },
  jp1: { countryCode: 'jp', country: 'Japan', city: 'Tokyo' },
};

/** Votes written as a line: `de1:up us1:down jp1:unknown`. */
export function votesOf(line: string): readonly Vote[] {
  const outcomes: Readonly<Record<string, () => Outcome>> = { up, down, unknown };
  return line.split(' ').map((word) => {
    const [name = '', status = ''] = word.split(':');
    return { node: nodeInfo(name, places[name]), outcome: outcomes[status]!() };
  });
}

export const anySpec: CheckSpec = CheckSpec.parse({ type: 'tcp', host: '192.0.2.1:80' });
