import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { followPaths, type NetworkPath, type PathChanges } from '#checks/path-changes.ts';

// Messages as the kernel writes them (`linux/rtnetlink.h`), without a kernel.

type Message = readonly [type: number, body: Buffer];

function start(): { readonly changes: PathChanges; readonly tell: (...messages: readonly Message[]) => void } {
  let waiting: Message[] = [];
  const changes = followPaths({
    read(take) {
      for (const [type, body] of waiting.splice(0)) take(type, body);
    },
  });
  return { changes, tell: (...messages) => void (waiting = [...waiting, ...messages]) };
}

function link(index: number, isUp: boolean): Message {
  const body = Buffer.alloc(16);
  body.writeInt32LE(index, 4);
  body.writeUInt32LE(isUp ? 0x1_00_01 : 1, 8);
  return [16, body];
}

function attribute(type: number, value: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt16LE(4 + value.length, 0);
  head.writeUInt16LE(type, 2);
  return Buffer.concat([head, value]);
}

function route(prefix: readonly number[], bits: number, isNew = true): Message {
  const body = Buffer.alloc(12);
  body[0] = prefix.length === 4 ? 2 : 10;
  body[1] = bits;
  body[7] = 1;
  return [isNew ? 24 : 25, Buffer.concat([body, ...(bits === 0 ? [] : [attribute(1, Buffer.from(prefix))])])];
}

function neighbour(index: number, address: readonly number[], state: number): Message {
  const body = Buffer.alloc(12);
  body[0] = 2;
  body.writeInt32LE(index, 4);
  body.writeUInt16LE(state, 8);
  return [28, Buffer.concat([body, attribute(1, Buffer.from(address))])];
}

const there = Buffer.from([10, 8, 0, 1]);
const gateway = Buffer.from([10, 9, 0, 254]);
const path: NetworkPath = { link: 2, gateway };
const [reachable, stale, probing, failed] = [0x02, 0x04, 0x10, 0x20];

test.each<{ name: string; before?: readonly Message[]; during: readonly Message[]; says: string | null }>([
  { name: 'nothing', during: [], says: null },
  { name: 'its link goes', before: [link(2, true)], during: [link(2, false)], says: 'link' },
  { name: 'its link comes back', before: [link(2, false)], during: [link(2, true)], says: 'link' },
  { name: 'its link tells of something else', before: [link(2, true)], during: [link(2, true)], says: null },
  { name: 'another link', during: [link(3, false)], says: null },
  { name: 'the default route', during: [route([0, 0, 0, 0], 0)], says: 'routes' },
  { name: 'a route to it', during: [route([10, 8, 0, 0], 15)], says: 'routes' },
  { name: 'a route to it goes', during: [route([10, 8, 0, 0], 24, false)], says: 'routes' },
  { name: 'a route beside it', during: [route([10, 9, 0, 0], 16), route([10, 8, 0, 2], 32)], says: null },
  {
    name: 'a route of the other family',
    during: [
      route(
        Array.from({ length: 16 }, () => 0),
        0,
      ),
    ],
    says: null,
  },
  { name: 'a route anew', before: [route([10, 8, 0, 0], 16)], during: [route([10, 8, 0, 0], 16)], says: null },
  { name: 'its gateway fails', during: [neighbour(2, [...gateway], failed)], says: 'gateway' },
  {
    name: 'its gateway answers again',
    before: [neighbour(2, [...gateway], failed)],
    during: [neighbour(2, [...gateway], probing), neighbour(2, [...gateway], reachable)],
    says: 'gateway',
  },
  { name: 'its gateway goes on', during: [neighbour(2, [...gateway], stale)], says: null },
  { name: 'another neighbour', during: [neighbour(2, [10, 9, 0, 9], failed)], says: null },
  { name: 'the gateway of another link', during: [neighbour(3, [...gateway], failed)], says: null },
])('during a check: $name', ({ before = [], during, says }) => {
  const { changes, tell } = start();
  tell(...before);
  const mark = changes.mark(0);
  tell(...during);
  const said = changes.since(mark, there, path);
  if (says === null) expect(said).toBeNull();
  else expect(said).toContain(says);
});

test('what changed before a check began is not its own', () => {
  const { changes, tell } = start();
  tell(link(2, false), route([10, 8, 0, 0], 16));
  expect(changes.since(changes.mark(0), there, path)).toBeNull();
});

test('a name that led nowhere is about the default route', () => {
  const { changes, tell } = start();
  const mark = changes.mark(0);
  tell(route([10, 8, 0, 0], 16));
  expect(changes.since(mark, null, { link: null, gateway: null })).toBeNull();
  tell(route([0, 0, 0, 0], 0));
  expect(changes.since(mark, null, { link: null, gateway: null })).toContain('routes');
});

test('whatever bytes come, nothing is thrown, and nothing grows without end', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 14, max: 30 }), fc.uint8Array({ maxLength: 60 })), { maxLength: 50 }),
      (messages) => {
        const { changes, tell } = start();
        const mark = changes.mark(0);
        tell(...messages.map(([type, body]): Message => [type, Buffer.from(body)]));
        expect([null, 'string']).toContain(changes.since(mark, there, path) === null ? null : 'string');
      },
    ),
  );
});
