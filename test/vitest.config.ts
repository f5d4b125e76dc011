import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { ProjectCounts } from './support/project-counts.ts';
import { longestFirst } from './support/test-lengths.ts';

const root = new URL('..', import.meta.url).pathname;

// Real sockets and processes on a machine that others use as well: what fails twice is wrong. What passed only then is told at the end.
const retry = process.env['CI'] === undefined ? 0 : 1;

// A test that hangs is to fail; one that is slow on a busy machine is not.
const project = (
  name: string,
  testTimeout: number,
  more: {
    include?: string[];
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
    // A second, Vitest's own, is short on a busy machine.
    expect: { poll: { timeout: 20_000 } },
    // Nothing here mocks a module or leaves a global behind, so files share a worker and what it has imported: alone each would
    // take a second of CPU time before its first test.
    isolate: false,
    ...more,
  },
});

// Servers of contract tests answer late on purpose, and whole programs wait for most of their time: four more files than there are
// processors are under way. Unit tests compute, and run before them.
const waiting = { retry, maxWorkers: availableParallelism() + 4, sequence: { groupOrder: 1 } };

const projects = [
  project('unit', 60_000, { pool: 'threads' }),
  project('contract', 60_000, waiting),
  // One project, because a worker begins anew with another: files with a browser, which compute, take turns with those that wait.
  project('programs', 240_000, {
    ...waiting,
    include: ['browser', 'e2e', 'integration'].map((folder) => `test/${folder}/**/*.test.ts`),
    globalSetup: ['test/support/tested-program.ts'],
    // Tests of a file that are concurrent wait for even more of their time; all at once they would start too much.
    maxConcurrency: 3,
  }),
];

/** The order of test files: project by project, because a worker begins anew with another, and the longest of each folder first. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const byProject = Map.groupBy(await super.sort(files), ({ project }) => project.name);
    return projects.flatMap(({ test }) => longestFirst(byProject.get(test.name) ?? [], ({ moduleId }) => moduleId));
  }
}

export default defineConfig({
  root,
  test: {
    maxWorkers: '100%',
    sequence: { sequencer: LongestFirst },
    reporters: ['default', new ProjectCounts()],
    projects,
  },
});
