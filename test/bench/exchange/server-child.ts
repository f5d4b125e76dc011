import { createServer } from 'node:http';

// Answers every request with 240 bytes, and tells its port.
const server = createServer((_, response) => void response.end('hello world '.repeat(20)));
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') process.send?.(address.port);
});
