import { defineConfig } from 'vitest/config';
import { ProjectCounts } from './support/project-counts.ts';

const root = new URL('..', import.meta.url).pathname;

// Real sockets and processes on a machine that others use as well: what fails twice is wrong. What passed only then is told at the end.
const retry = process.env['CI'] === undefined ? 0 : 1;

// A test that hangs is to fail; one that is slow on a busy machine is not.
const project = (
  name: string,
  testTimeout: number,
  more: { fileParallelism?: false; isolate?: false; pool?: 'threads'; retry?: number } = {},
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

export default defineConfig({
  root,
  test: {
    maxWorkers: '100%',
    reporters: ['default', new ProjectCounts()],
    projects: [
      // Nothing here mocks a module or leaves a global behind, so files share a worker and what it has imported.
      project('unit', 60_000, { isolate: false, pool: 'threads' }),
      project('contract', 60_000, { isolate: false, retry }),
      project('integration', 240_000, { retry }),
      project('e2e', 240_000, { fileParallelism: false, retry }),
      project('browser', 240_000, { fileParallelism: false, retry }),
    ],
  },
});
