import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { ProjectCounts } from './support/project-counts.ts';
import { placesOf } from './support/test-lengths.ts';

const root = new URL('..', import.meta.url).pathname;

// Real sockets and processes on a machine that others use as well: what fails twice is wrong. What passed only then is told at the end.
const retry = process.env['CI'] === undefined ? 0 : 1;

// A test that hangs is to fail; one that is slow on a busy machine is not.
const project = (
  name: string,
  testTimeout: number,
  more: {
    isolate?: false;
    pool?: 'threads';
    retry?: number;
    maxWorkers?: number;
    maxConcurrency?: number;
    sequence?: { groupOrder: number };
    globalSetup?: string[];
  } = {},
) => ({
  root,
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    setupFiles: ['test/support/setup.ts'],
    testTimeout,
    hookTimeout: testTimeout,
    ...more,
  },
});

// Whole programs wait for most of their time, so files of the three projects run beside each other, one more than there are
// processors: with two more, votes of nodes come too late on a slow machine. Unit and contract tests compute, and run before them.
// Tests of a file that are concurrent wait for even more of it; all at once they would start too much.
const ofPrograms = {
  globalSetup: ['test/support/tested-program.ts'],
  retry,
  maxWorkers: availableParallelism() + 1,
  maxConcurrency: 3,
  sequence: { groupOrder: 2 },
};

/**
 * The order of test files: those of projects that run together take turns, in proportion to their work, the longest first. Files of
 * projects that share workers (`isolate: false`) stay together, because a worker begins anew with another project.
 */
class MixedOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const byProject = Map.groupBy(await super.sort(files), ({ project }) => project.name);
    const placed = [...byProject.values()].flatMap((some) =>
      placesOf(some, ({ moduleId }) => moduleId).map(({ file, place }) => {
        const { isolate, sequence } = file.project.config;
        return { file, group: sequence.groupOrder, place: isolate ? place : 0 };
      }),
    );
    return placed.toSorted((a, b) => a.group - b.group || a.place - b.place).map(({ file }) => file);
  }
}

export default defineConfig({
  root,
  test: {
    maxWorkers: '100%',
    sequence: { sequencer: MixedOrder },
    reporters: ['default', new ProjectCounts()],
    projects: [
      // Nothing here mocks a module or leaves a global behind, so files share a worker and what it has imported.
      project('unit', 60_000, { isolate: false, pool: 'threads' }),
      // Their servers answer late on purpose, so that four more files than there are processors are under way.
      project('contract', 60_000, {
        isolate: false,
        retry,
        maxWorkers: availableParallelism() + 4,
        sequence: { groupOrder: 1 },
      }),
      project('integration', 240_000, ofPrograms),
      project('e2e', 240_000, ofPrograms),
      project('browser', 240_000, ofPrograms),
    ],
  },
});
