import { type } from 'node:os';
import type { Document } from 'bson';
import type { Random } from '#kernel/random.ts';
import { singleLine } from '#kernel/text.ts';
import { version } from '#kernel/version.ts';
import { type Bson, CommandRefusal, type MongoConnection } from './connection.ts';
import type { ServerRole } from './detail.ts';
import { mechanisms, ProtocolFault, type ScramMechanism, scramSecret, startScram } from './scram.ts';
import type { Spec } from './spec.ts';

/** What a server says of itself before a login. */
export interface ServerHello {
  readonly role: ServerRole;
  readonly set: string | null;
  /** The mechanisms that the user may sign in with; null if the server does not say, as for a user that it does not know. */
  readonly offered: readonly unknown[] | null;
}

/** Asks the server what it is (the command `hello`, of MongoDB 4.4 and its contemporaries). */
export async function greet(server: MongoConnection, { username, auth_database }: Spec): Promise<ServerHello> {
  const reply = await server.run('admin', {
    hello: 1,
    ...(username === undefined ? {} : { saslSupportedMechs: `${auth_database}.${username}` }),
    client: { application: { name: 'watchpost' }, driver: { name: 'watchpost', version }, os: { type: type() } },
  });
  const { setName, saslSupportedMechs } = reply;
  return {
    role: roleOf(reply),
    set: typeof setName === 'string' ? singleLine(setName) : null,
    offered: Array.isArray(saslSupportedMechs) ? saslSupportedMechs : null,
  };
}

// Server discovery and monitoring specification, "Parsing a hello or legacy hello response".
function roleOf({ msg, setName, isreplicaset, isWritablePrimary, secondary, arbiterOnly }: Document): ServerRole {
  if (msg === 'isdbgrid') return 'mongos';
  if (typeof setName !== 'string') return isreplicaset !== true && isWritablePrimary === true ? 'standalone' : 'other';
  if (isWritablePrimary === true) return 'primary';
  if (secondary === true) return 'secondary';
  return arbiterOnly === true ? 'arbiter' : 'other';
}

interface LoginParts {
  readonly hello: ServerHello;
  readonly random: Random;
  readonly bson: Bson;
}

/** Signs in with SCRAM (MongoDB's authentication specification). Rejects as `MongoConnection.run` does. */
export async function signIn(server: MongoConnection, spec: Spec, { hello, random, bson }: LoginParts): Promise<void> {
  const { username = '', password = '', auth_database: database } = spec;
  const mechanism = chosen(hello.offered);
  const secret = scramSecret(mechanism, username, password);
  const login = startScram(mechanism, username, Buffer.from(random.bytes(24)).toString('base64'));
  const say = async (text: string, more: Document) => {
    const reply = await server.run(database, { ...more, payload: new bson.Binary(Buffer.from(text)) });
    const { conversationId, payload, done } = reply;
    if (!(payload instanceof bson.Binary)) throw new ProtocolFault('the server answered the login without a payload');
    return {
      said: Buffer.from(payload.value()).toString(),
      isDone: done === true,
      conversationId: conversationId as unknown,
    };
  };
  const begun = await say(login.first, { saslStart: 1, mechanism, options: { skipEmptyExchange: true } });
  const answer = await login.answer(begun.said, secret);
  const { conversationId } = begun;
  const proved = await say(answer.final, { saslContinue: 1, conversationId });
  answer.verify(proved.said);
  if (proved.isDone) return;
  // Servers before 4.4 say a last word that is empty.
  const last = await say('', { saslContinue: 1, conversationId });
  if (!last.isDone) throw new ProtocolFault('the server did not finish the login');
}

function chosen(offered: readonly unknown[] | null): ScramMechanism {
  if (offered === null) return 'SCRAM-SHA-256';
  const mechanism = mechanisms.find((one) => offered.includes(one));
  if (mechanism !== undefined) return mechanism;
  const names = offered.length === 0 ? 'nothing' : offered.map(String).join(', ');
  throw new CommandRefusal(`it offers ${names} to this user, expected ${mechanisms.join(' or ')}`);
}
