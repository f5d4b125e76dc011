import { startMongo } from './mongo-server.ts';

// A MongoDB server as a process of its own, which can be stopped; its port and the password of its users are given.

const [port = '0', password = ''] = process.argv.slice(2);
await startMongo({
  port: Number(port),
  users: [
    { name: 'watcher', password },
    { name: 'elder', password, mechanisms: ['SCRAM-SHA-1'] },
  ],
  hello: { setName: 'rs0', hosts: [`127.0.0.1:${port}`], me: `127.0.0.1:${port}` },
  data: { 'shop.orders': Array.from({ length: 42 }, (_, at) => ({ _id: at, state: 'new' })) },
});
