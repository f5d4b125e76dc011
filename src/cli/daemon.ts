export { runOnce } from './once.ts';
export { run } from './run.ts';
