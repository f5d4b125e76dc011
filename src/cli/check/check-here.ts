import { checkOf, type CheckSpec, type Policy } from '#checks/index.ts';
import { systemClock } from '#kernel/clock.ts';
import { systemRandom } from '#kernel/random.ts';
import { startAgent } from '#node/agent.ts';
import { jsonText } from '../shared/json.ts';
import { createInterimLines } from './interim-lines.ts';
import { describeOutcome, exitCodeOf } from './outcome.ts';
import { paintOf } from '../shared/paint.ts';
import type { CommandContext } from '../shared/command-context.ts';

export interface HereOptions {
  readonly json?: boolean;
  readonly policy: Policy;
}

/** Runs one check in this very process, as a node would, and prints what it found; on a terminal also what it has found so far. */
export async function checkHere(
  spec: CheckSpec,
  { json, policy }: HereOptions,
  context: CommandContext,
): Promise<number> {
  const here = { localAddress: {}, policy, allow: [], deny: [], knownAs: [], running: 1, queued: 1 };
  const agent = await startAgent(here, systemClock, systemRandom);
  try {
    const lines = json === true || !context.interactive ? null : createInterimLines(spec, context);
    const deadlineMs = checkOf(spec.type).deadlineMs(spec);
    const command = { spec, policy, deadlineMs, wantsInterim: lines !== null };
    const outcome = await agent
      .run(command, context.stop, { onInterim: (detail) => lines?.show(detail) })
      .finally(() => lines?.clear());
    context.print(
      json === true
        ? jsonText({ check: spec.type, host: spec.host, outcome })
        : describeOutcome(spec, outcome, paintOf(context)),
    );
    return exitCodeOf(outcome.status);
  } finally {
    await agent.close();
  }
}
