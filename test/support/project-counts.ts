import type { Reporter, TestCase, TestModule } from 'vitest/node';

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/** Prints, after everything else, what each project counted and why tests were skipped. */
export class ProjectCounts implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = new Map<string, Counts>();
    const reasons = new Map<string, number>();
    for (const module of modules) {
      const of = counts.get(module.project.name) ?? { passed: 0, failed: 0, skipped: 0 };
      counts.set(module.project.name, of);
      for (const test of module.children.allTests()) {
        of[stateOf(test)] += 1;
        const result = test.result();
        if (result.state !== 'skipped') continue;
        const reason = `${module.relativeModuleId}: ${result.note ?? 'what the file tries out first is not there'}`;
        reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      }
      if (module.errors().length > 0) of.failed += 1;
    }
    const lines = [...counts].map(
      ([name, { passed, failed, skipped }]) => `${name}: ${passed} passed, ${failed} failed, ${skipped} skipped`,
    );
    process.stdout.write(
      `${[...[...reasons].map(([reason, count]) => `${count} skipped in ${reason}`), '', ...lines].join('\n')}\n`,
    );
  }
}

function stateOf(test: TestCase): keyof Counts {
  const { state } = test.result();
  return state === 'pending' ? 'skipped' : state;
}
