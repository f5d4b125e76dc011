import { createServer } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

// Accepts connections and resets them at once, however busy the thread of the test is; tells by a counter that it has.
const resets = new Int32Array(workerData as SharedArrayBuffer);

const server = createServer((socket) => {
  socket.on('error', () => {});
  socket.resetAndDestroy();
  Atomics.add(resets, 0, 1);
  Atomics.notify(resets, 0);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin
  if (address !== null && typeof address === 'object') parentPort?.postMessage(address.port);
});
