import { expect, test } from 'vitest';
import { completeCommand, faultOfCommand } from '#checks/mongodb/command.ts';
import { CheckSpec } from '#checks/index.ts';

test.each([
  ['{"ping": 1}', null],
  [{ ping: 1 }, null],
  [{ find: 'orders', filter: { state: 'new' }, limit: 1 }, null],
  [{ aggregate: 'orders', pipeline: [{ $match: { a: 1 } }, { $count: 'n' }] }, null],
  ['ping', 'expected a map'],
  ['[]', 'expected a map'],
  ['{}', 'use one of ping, hello'],
  [{ dropDatabase: 1 }, 'is no command that only reads'],
  [{ insert: 'orders', documents: [{}] }, 'is no command that only reads'],
  ['{"shutdown": 1, "ping": 1}', 'is no command that only reads'],
  [{ aggregate: 'orders', pipeline: [{ $match: {} }, { $out: 'other' }] }, 'changes data: it has the stage $out'],
  [{ aggregate: 'orders', pipeline: [{ $merge: { into: 'a' } }] }, 'changes data: it has the stage $merge'],
  [{ find: 'orders', filter: { text: 'x'.repeat(10_000) } }, 'is longer than 10000 characters'],
])('%j', (command, fault) => {
  if (fault === null) expect(faultOfCommand(command)).toBeNull();
  else expect(faultOfCommand(command)).toContain(fault);
});

test('what takes long ends on the server too, and a pipeline has a cursor', () => {
  expect(completeCommand({ ping: 1 }, 5_000)).toEqual({ ping: 1 });
  expect(completeCommand({ count: 'a' }, 5_000)).toEqual({ count: 'a', maxTimeMS: 5_000 });
  expect(completeCommand({ find: 'a', maxTimeMS: 10 }, 5_000)).toEqual({ find: 'a', maxTimeMS: 10 });
  expect(completeCommand({ aggregate: 'a', pipeline: [] }, 5_000)).toEqual({
    aggregate: 'a',
    pipeline: [],
    cursor: {},
    maxTimeMS: 5_000,
  });
});

const parse = (options: object) => CheckSpec.safeParse({ type: 'mongodb', host: 'db.example.com', ...options });

test.each([
  ['db.example.com', 'db.example.com:27017'],
  ['mongodb://db.example.com', 'db.example.com:27017'],
  ['mongodb://db.example.com:27018/shop', 'db.example.com:27018'],
  ['[2001:db8::1]', '[2001:db8::1]:27017'],
])('the host %s', (host, recorded) => {
  expect(parse({ host }).data).toMatchObject({ host: recorded });
});

test.each([
  [{ host: 'mongodb+srv://cluster.example.com' }, 'host', 'stands for several servers'],
  [{ host: 'mongodb://ann:secret@db.example.com' }, 'host', 'must not contain a user name or password'],
  [{ host: 'mongodb://a.example.com,b.example.com' }, 'host', 'is no valid host name'],
  [{ password: 'x' }, 'username', 'is missing'],
  [{ username: 'ann' }, 'password', 'is missing'],
  [{ username: 'ann', password: 'a', password_file: 'b' }, 'password_file', 'cannot be set together'],
  [{ username: 'ann', password: 'a\ue000' }, 'password', 'contains characters that MongoDB does not take'],
  [{ database: '$external' }, 'database', 'must not contain'],
  [{ command: { drop: 'orders' } }, 'command', 'is no command that only reads'],
  [{ path: '$..' }, 'path', ''],
  [{ expect: { rows: { min: 1 } } }, 'expect.rows', 'is for find'],
  [{ expect: { role: 'leader' } }, 'expect.role', ''],
])('%j is refused', (options, path, message) => {
  const issues = parse(options).error?.issues ?? [];
  expect(issues.map((issue) => issue.path.join('.'))).toContain(path);
  expect(issues.map((issue) => issue.message).join()).toContain(message);
});
