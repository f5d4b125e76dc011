import { defineConfig } from 'vitest/config';
import { ProjectCounts } from './support/project-counts.ts';

const root = new URL('..', import.meta.url).pathname;

// A test that hangs is to fail; one that is slow on a busy machine is not.
const project = (name: string, testTimeout: number, fileParallelism = true) => ({
  root,
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    setupFiles: ['test/support/setup.ts'],
    testTimeout,
    hookTimeout: testTimeout,
    fileParallelism,
  },
});

export default defineConfig({
  root,
  test: {
    maxWorkers: '100%',
    // Real sockets and processes on a machine that others use as well: what fails twice is wrong.
    retry: process.env['CI'] === undefined ? 0 : 2,
    reporters: ['default', new ProjectCounts()],
    projects: [
      project('unit', 60_000),
      project('contract', 60_000),
      project('integration', 120_000),
      project('e2e', 240_000, false),
      project('browser', 240_000, false),
    ],
  },
});
