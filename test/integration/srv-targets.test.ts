import type { Answer } from 'dns-packet';
import { expect, test } from 'vitest';
import { type Asked, nameServer } from '../support/name-server.ts';
import { createProgram, eventually } from '../support/program.ts';

const service = '_http._tcp.example.com';

function srv(target: string, port: number): Answer {
  return { type: 'SRV', name: service, ttl: 60, data: { target, port, priority: 10, weight: 60 } };
}

test('the daemon follows SRV records, and keeps its targets while the name server fails', async () => {
  let handle = (asked: Asked) => asked.answer([srv('localhost', 1)]);
  await using server = await nameServer((asked) => handle(asked));
  await using program = await createProgram();
  const ask = `{ every: 1s, server: "127.0.0.1:${server.port}" }`;
  const { url, logged } = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
targets_from: { shop: { srv: ${service}, ask: ${ask}, check: tcp, every: 1s, timeout: 500ms } }
`);
  const metrics = async () => (await fetch(`${url}/metrics`)).text();
  const contains = async (text: string) => eventually(60_000, async () => expect(await metrics()).toContain(text));
  await contains('watchpost_target_list_up{list="shop"} 1\n');
  await contains('target="shop-localhost-1"');
  handle = (asked) => asked.answer([srv('localhost', 1), srv('localhost', 2)]);
  await contains('target="shop-localhost-2"');
  handle = (asked) => asked.answer([], { rcode: 2 });
  await logged(/^cannot fetch target list; keeping the last one$/);
  await contains('watchpost_target_list_up{list="shop"} 0\n');
  expect(await metrics()).toContain('target="shop-localhost-2"');
  handle = (asked) => asked.answer([srv('localhost', 2)]);
  await logged(/^target list is available again$/);
  await eventually(60_000, async () => expect(await metrics()).not.toContain('target="shop-localhost-1"'));
}, 180_000);
