import type { NatsConnection } from '@nats-io/transport-node';
import type { Log } from '#kernel/log.ts';
import { readJson } from '#kernel/json.ts';
import { sharedSubjects, StatusList } from '#protocol/nodes.ts';
import { type Account, connectionTimes, dial } from './connection.ts';
import { listen } from './listen.ts';

// Where there is no hub NATS says so at once; one that is overloaded takes its time.
const answerMs = 20_000;

/** Answers requests for the status of nodes; the server permits them to holders of the hub's key only. */
export function serveStatus(connection: NatsConnection, nodes: () => StatusList['nodes'], log: Log): void {
  const answer = () => JSON.stringify({ nodes: nodes() } satisfies StatusList);
  listen(connection, sharedSubjects.status, (message) => void message.respond(answer()), log);
}

/** Asks the hub how its nodes are, with the hub's own key. Rejects where NATS or the hub does not answer. */
export async function askStatus(account: Account): Promise<StatusList> {
  const connection = await dial(account, connectionTimes);
  try {
    const message = await connection.request(sharedSubjects.status, '', { timeout: answerMs });
    const list = readJson(StatusList, message.string());
    if (list === null) throw new Error('the hub has another version');
    return list;
  } finally {
    await connection.close();
  }
}
