import { checkOf, type WholeResponse } from '#checks/index.ts';
import type { ComparableTarget, ImportResult } from '#import/import.ts';
import { sleepUnlessAborted, systemClock } from '#kernel/clock.ts';
import { systemRandom } from '#kernel/random.ts';
import { countOf, singleLine } from '#kernel/text.ts';
import { startAgent } from '#node/agent.ts';
import type { CommandContext } from '../shared/command-context.ts';
import { jsonText } from '../shared/json.ts';
import { createProgress } from '../shared/progress.ts';
import { alignRows } from '../shared/table.ts';

interface CompareOptions {
  /** What the other monitor is called. */
  readonly title: string;
  /** For how long targets are requested again, each by its interval; 0 for one request each. */
  readonly forMs: number;
  readonly json: boolean | undefined;
}

/** A verdict of both on the same response. */
interface ComparedVerdicts {
  readonly target: string;
  readonly at: number;
  readonly before: { readonly status: 'up' | 'down'; readonly reason: string };
  readonly now: { readonly status: 'up' | 'down'; readonly reason: string };
}

type ComparisonResult = ComparedVerdicts | { readonly target: string; readonly skipped: string };

/**
 * Requests the targets of an import and has both judge the same responses: the check that was made of it, and the rules of the program that it
 * came from. Exit code 1 if a verdict differs.
 */
export async function compareVerdicts(
  { comparable, incomparable }: ImportResult,
  { title, forMs, json }: CompareOptions,
  context: CommandContext,
): Promise<number> {
  const here = { localAddress: {}, policy: 'private' as const, allow: [], deny: [], knownAs: [] };
  const agent = await startAgent({ ...here, running: 8, queued: comparable.length }, systemClock, systemRandom);
  const progress = createProgress('targets', comparable.length, context);
  const until = systemClock.elapsed() + forMs;
  const compared: ComparisonResult[] = [];
  try {
    await Promise.all(
      comparable.map(async (target) => {
        for (;;) {
          compared.push(await compareOnce(target, agent, context.stop));
          if (systemClock.elapsed() + target.everyMs > until) break;
          if (!(await sleepUnlessAborted(systemClock, target.everyMs, context.stop))) break;
        }
        progress.step();
      }),
    );
  } finally {
    progress.end();
    await agent.close();
  }
  context.stop.throwIfAborted();
  const judged = compared.filter((one) => 'before' in one);
  const skipped = compared.filter((one) => 'skipped' in one);
  const differences = judged.filter(({ before, now }) => before.status !== now.status);
  const counts = { targets: comparable.length, responses: judged.length };
  if (json === true) {
    const others = Object.fromEntries(incomparable);
    context.print(jsonText({ ...counts, differences, skipped, not_compared: others }));
  } else {
    const lines = [...tableOf(differences, title), ...skippedLines(skipped), summaryOf(counts, differences)];
    context.print(`${[...lines, ...othersLine(incomparable)].join('\n')}\n`);
  }
  return differences.length === 0 ? 0 : 1;
}

async function compareOnce(
  { name, spec, judge }: ComparableTarget,
  agent: Awaited<ReturnType<typeof startAgent>>,
  stop: AbortSignal,
) {
  let response: WholeResponse | null = null;
  const onResponse = (whole: WholeResponse) => {
    response = whole;
  };
  const at = systemClock.now();
  const command = { spec, policy: 'private' as const, deadlineMs: checkOf(spec.type).deadlineMs(spec) };
  const outcome = await agent.run(command, stop, { onResponse });
  const why = incomparableReason(outcome.status === 'up' ? null : outcome.failure.code, outcome.status, response);
  if (why !== null) return { target: name, skipped: why };
  const { isUp, reason } = await judge(response);
  const now =
    outcome.status === 'up'
      ? ({ status: 'up', reason: '' } as const)
      : ({ status: 'down', reason: outcome.failure.message } as const);
  return { target: name, at, before: { status: isUp ? ('up' as const) : ('down' as const), reason }, now };
}

function incomparableReason(code: string | null, status: string, response: WholeResponse | null): string | null {
  if (status === 'unknown') return 'this machine could not check it';
  if (code === 'redirect') return 'the redirect is not followed here, so the last response is missing';
  return response?.isComplete === false ? 'the body is longer than what a check reads' : null;
}

// One line for each target and reason, with the first time and the number.
function tableOf(differences: readonly ComparedVerdicts[], title: string): readonly string[] {
  if (differences.length === 0) return [];
  const groups = Map.groupBy(differences, ({ target, before, now }) => `${target} ${before.status} ${now.status}`);
  const rows = [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { target, at, before, now } = first;
    const time = new Date(at).toISOString();
    return [[target, String(group.length), time, wordsOf(before), wordsOf(now)]];
  });
  return alignRows([['target', 'responses', 'first', title, 'Watchpost'], ...rows]);
}

function wordsOf({ status, reason }: ComparedVerdicts['before']): string {
  return reason === '' ? status : `${status}: ${singleLine(reason, 100)}`;
}

function skippedLines(skipped: readonly { readonly target: string; readonly skipped: string }[]): readonly string[] {
  const reasons = Map.groupBy(skipped, ({ target, skipped: why }) => `${target}: not compared: ${why}`);
  return [...reasons].map(([line, { length }]) => (length === 1 ? line : `${line} (${length} times)`));
}

function summaryOf(
  { targets, responses }: { readonly targets: number; readonly responses: number },
  differences: readonly ComparedVerdicts[],
): string {
  const differing = new Set(differences.map(({ target }) => target)).size;
  const words = differing === 0 ? 'all verdicts are equal' : `the verdicts of ${countOf(differing, 'target')} differ`;
  return `${countOf(targets, 'http target')}, ${countOf(responses, 'response')}: ${words}`;
}

function othersLine(incomparable: ImportResult['incomparable']): readonly string[] {
  if (incomparable.size === 0) return [];
  const types = [...incomparable].map(([type, { length }]) => `${type} ${length}`);
  return [`not compared, because a response does not suffice: ${types.join(', ')}`];
}
