import type { Reporter, TestCase, TestModule } from 'vitest/node';

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/** More would hide that something is wrong: what fails now and then fails for a reason. */
const mostRetried = 3;
const longestReason = 500;

/**
 * Prints, after everything else, what each folder of `test` counted, why tests were skipped, and which passed only when they were tried again, with the first error.
 * More than three of the latter fail the run, by `fail`.
 */
export class ProjectCounts implements Reporter {
  readonly #print: (text: string) => void;
  readonly #fail: () => void;

  constructor(
    print = (text: string) => void process.stdout.write(text),
    fail = () => {
      process.exitCode = 1;
    },
  ) {
    this.#print = print;
    this.#fail = fail;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = new Map<string, Counts>();
    const reasons = new Map<string, number>();
    const again: string[] = [];
    for (const module of modules) {
      const [, folder = ''] = module.relativeModuleId.split('/');
      const of = counts.get(folder) ?? { passed: 0, failed: 0, skipped: 0 };
      counts.set(folder, of);
      for (const test of module.children.allTests()) {
        of[stateOf(test)] += 1;
        const result = test.result();
        const { retryCount = 0 } = test.diagnostic() ?? {};
        if (result.state === 'passed' && retryCount > 0) {
          const reason = (result.errors?.[0]?.message ?? 'no reason').replaceAll(/\s+/g, ' ').slice(0, longestReason);
          again.push(`passed only after ${retryCount} more: ${module.relativeModuleId} > ${test.fullName}: ${reason}`);
        }
        if (result.state !== 'skipped') continue;
        const reason = `${module.relativeModuleId}: ${result.note ?? 'what the file tries out first is not there'}`;
        reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      }
      if (module.errors().length > 0) of.failed += 1;
    }
    const lines = [...counts].map(
      ([name, { passed, failed, skipped }]) => `${name}: ${passed} passed, ${failed} failed, ${skipped} skipped`,
    );
    const skips = [...reasons].map(([reason, count]) => `${count} skipped in ${reason}`);
    const tooMany = again.length > mostRetried;
    const complaint = `${again.length} tests passed only when they were tried again; at most ${mostRetried} may: find out why`;
    this.#print(`${[...again, ...skips, '', ...lines, ...(tooMany ? [complaint] : [])].join('\n')}\n`);
    if (tooMany) this.#fail();
  }
}

function stateOf(test: TestCase): keyof Counts {
  const { state } = test.result();
  return state === 'pending' ? 'skipped' : state;
}
