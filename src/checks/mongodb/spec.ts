import { z } from 'zod';
import { messageOf } from '#kernel/errors.ts';
import { always, refuseBoth } from '#kernel/refine.ts';
import { ServerHost, serverOptions, ValueExpectation } from '../database/options.ts';
import type { ServerPorts } from '../database/ports.ts';
import { compilePath, PathError } from '../http/json-path.ts';
import { oneOrMore } from '../one-or-more.ts';
import { faultOfCommand, hasCursor, parseCommand } from './command.ts';
import { ServerRole } from './detail.ts';
import { saslprep } from './saslprep.ts';

const ports: ServerPorts = { plain: 27_017, scheme: 'mongodb', secure: null };

const DatabaseName = z
  .string()
  .min(1)
  .max(63)
  .regex(/^[^/\\. "$\p{Cc}]+$/u, { error: 'must not contain spaces, quotes, dots, slashes or "$"' });

const Command = z
  .union([z.string().min(1).max(10_000), z.record(z.string().max(1_000), z.unknown())])
  .superRefine((written, context) => {
    const fault = faultOfCommand(written);
    if (fault !== null) context.addIssue({ code: 'custom', message: fault });
  });

const ValuePath = z
  .string()
  .max(1_000)
  .superRefine((path, context) => {
    try {
      compilePath(path);
    } catch (error) {
      if (!(error instanceof PathError)) throw error;
      context.addIssue({ code: 'custom', message: messageOf(error) });
    }
  });

const Count = z.int().min(0).max(1e6);

const Expectation = ValueExpectation.extend({
  rows: z
    .strictObject({
      min: Count.optional().describe('The least number of documents.'),
      max: Count.optional().describe('The largest number of documents; those of the first batch are counted.'),
    })
    .optional()
    .describe('How many documents there must be.'),
  role: oneOrMore(ServerRole, 6)
    .optional()
    .describe('What the server must be; of several any one. Writes go to "primary", "standalone" and "mongos".'),
  set: z.string().min(1).max(200).optional().describe('The name of the replica set that it must be in.'),
});
export type Expectation = z.output<typeof Expectation>;

export const Spec = z
  .strictObject({
    type: z.literal('mongodb'),
    host: ServerHost(ports),
    ...serverOptions,
    username: serverOptions.username.unwrap().min(1).optional().describe('Who signs in. Default: no login.'),
    auth_database: DatabaseName.default('admin').describe('The database that knows the user.'),
    database: DatabaseName.default('admin').describe('The database that the command is for.'),
    command: Command.default('{"ping": 1}').describe(
      'A command that reads, as a map or as text, in Extended JSON: {"count": "orders", "query": {"state": "new"}}.',
    ),
    path: ValuePath.default('$.ok').describe(
      'JSONPath (RFC 9535) of the value in the reply: "$.n", "$.cursor.firstBatch[0].state". Of a list its value is how many elements it has.',
    ),
    expect: Expectation.prefault({}).describe('What the reply and the server must be.'),
  })
  .superRefine((spec, context) => {
    const { username, password, password_file, command, expect } = spec;
    const wrong = (path: readonly string[], message: string) =>
      context.addIssue({ code: 'custom', path: [...path], message });
    refuseBoth(spec, 'password', 'password_file', context);
    const hasPassword = password !== undefined || password_file !== undefined;
    if (username === undefined && hasPassword) wrong(['username'], 'is missing: a password is given');
    if (username !== undefined && !hasPassword) wrong(['password'], 'is missing: a username is given');
    if (typeof password === 'string' && saslprep(password) === null)
      wrong(['password'], 'contains characters that MongoDB does not take (SASLprep, RFC 4013)');
    const parsed = command === undefined ? null : parseCommand(command);
    if (expect?.rows !== undefined && parsed !== null && !hasCursor(parsed))
      wrong(
        ['expect', 'rows'],
        'is for find, aggregate, listCollections and listIndexes: other replies have no documents',
      );
  }, always);
export type Spec = z.output<typeof Spec>;
