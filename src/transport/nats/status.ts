import { readMessage, sharedSubjects, StatusList } from '#protocol/nodes.ts';
import { type Account, connectionTimes, dial } from './connection.ts';

const answerMs = 2_000;

/** Asks the hub how its nodes are, with the hub's own key. Rejects where NATS or the hub does not answer. */
export async function askStatus(account: Account): Promise<StatusList> {
  const connection = await dial(account, connectionTimes);
  try {
    const message = await connection.request(sharedSubjects.status, '', { timeout: answerMs });
    const list = readMessage(StatusList, message.string());
    if (list === null) throw new Error('the hub is of another version');
    return list;
  } finally {
    await connection.close();
  }
}
