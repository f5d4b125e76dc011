export { runOnce } from './run-once.ts';
export { run } from './run.ts';
