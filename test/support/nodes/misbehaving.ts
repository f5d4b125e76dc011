import { parentPort, workerData } from 'node:worker_threads';
import { suspendedOutcome } from '#service/ports.ts';
import type { NodeMessage, HubMessage } from '#node/ports.ts';

// A node thread that misbehaves as its commands' host says. Its restarts are counted in shared memory.

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin
const say = (message: NodeMessage) => parentPort?.postMessage(message);
const starts = new Int32Array(workerData.starts as SharedArrayBuffer);
Atomics.add(starts, 0, 1);
// Where it starts slowly: until it is told to go on.
if (workerData.startsSlowly === true) Atomics.wait(starts, 3, 0);
if (workerData.chats === true) {
  setInterval(() => {
    say({ kind: 'health', health: { running: 0, queued: 0, lagSeconds: 0, skipped: 0 } });
    Atomics.add(starts, 3, 1);
    Atomics.notify(starts, 3);
  }, 10).unref();
}

const outcome = { status: 'up', seconds: 0.001, address: '192.0.2.1', phases: {}, facts: {}, detail: {} } as const;
const busy = new Uint8Array(workerData.busy as SharedArrayBuffer);

parentPort?.on('message', (message: HubMessage) => {
  if (message.kind === 'close') {
    if (!workerData.hangsAtClose) parentPort?.close();
    return;
  }
  if (message.kind === 'watch') {
    if (message.targets.some(({ spec, refusal }) => spec.host === 'dies:1' && refusal === null)) {
      for (const { spec, place } of message.targets) busy[place] = spec.host === 'fine:1' ? 0 : 1;
      process.exit(7);
    }
    say({ kind: 'watching', number: message.number, since: 0 });
    const observations = message.targets.map(({ name, revision, refusal }) => ({
      target: name,
      revision,
      dueAt: 1,
      outcome: refusal === null ? outcome : suspendedOutcome(refusal),
      startedAt: 1,
    }));
    say({ kind: 'seen', isNews: false, observations, passed: { checks: 3, due: { from: 1, until: 2 } } });
    return;
  }
  if (message.kind !== 'run' && message.kind !== 'abort') return;
  if (message.kind === 'abort') {
    Atomics.add(starts, 1, 1);
    return;
  }
  Atomics.add(starts, 2, 1);
  switch (message.command.spec.host) {
    case 'dies:1':
      process.exit(7);
      break;
    case 'throws:1':
      throw new Error('a bug in the node');
    case 'is-silent:1':
      break;
    case 'answers-later:1':
      setImmediate(() => say({ kind: 'outcome', id: message.id, outcome, startedAt: null }));
      break;
    case 'answers-twice:1':
      say({ kind: 'outcome', id: message.id, outcome, startedAt: null });
      say({ kind: 'outcome', id: message.id, outcome: { ...outcome, seconds: 9 }, startedAt: null });
      break;
    default:
      say({ kind: 'outcome', id: message.id, outcome, startedAt: null });
  }
});
say({ kind: 'ready', capabilities: { tcp: { able: true } }, isGuarding: workerData.guard !== undefined });
