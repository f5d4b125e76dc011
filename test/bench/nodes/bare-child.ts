import { once } from 'node:events';
import { createServer } from 'node:http';

// What a process that does nothing else takes for an answer where the hub runs. It says its address, and ends when the other side lets go.
const server = createServer((_, response) => response.end('{"ok":1}')).listen(0, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
process.send?.(typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : '');
await once(process, 'disconnect');
process.exit();
