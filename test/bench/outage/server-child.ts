import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// The server of all targets, in a process of its own, which is killed or stopped. Argument: the port; 0 for a free one. It tells its
// port once it listens.

const server = createServer((_, response) => response.end('ok\n')).listen(Number(process.argv[2]), '127.0.0.1', 4_096);
await once(server, 'listening');
process.send?.((server.address() as AddressInfo).port);
process.once('disconnect', () => process.exit());
