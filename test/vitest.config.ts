import { defineConfig } from 'vitest/config';
import { ProjectCounts } from './support/project-counts.ts';

const root = new URL('..', import.meta.url).pathname;

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
    reporters: ['default', new ProjectCounts()],
    projects: [
      project('unit', 5_000),
      project('contract', 10_000),
      project('integration', 30_000),
      project('e2e', 90_000, false),
    ],
  },
});
