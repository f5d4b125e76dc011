import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { createProgram } from '../support/program.ts';

test('as many connections as the configuration says are held, and one more is refused', async () => {
  await using program = await createProgram();
  const { url } = await program.start(
    'data: watchpost.db\nhttp: { listen: 127.0.0.1:0, connections: 120 }\nservice: {}',
  );
  const port = Number(new URL(url).port);
  using open = new DisposableStack();
  const dial = async () => {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    open.defer(() => socket.destroy());
    await once(socket, 'connect');
    return socket;
  };
  const sockets = [];
  for (let count = 0; count < 120; count += 1) sockets.push(await dial());
  const one = await dial();
  if (!one.closed) await once(one, 'close');
  expect(sockets.filter(({ readyState }) => readyState === 'open')).toHaveLength(120);
});
