import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import type { Log } from '#kernel/log.ts';
import { nodeOfSubject, subjectsOf } from '#protocol/nodes.ts';

/** Hears what is sent under a subject, as long as the connection lasts. */
export function listen(
  connection: NatsConnection,
  subject: string,
  act: (message: Msg) => void,
  log: Log,
): Subscription {
  return connection.subscribe(subject, {
    callback(error, message) {
      if (error === null) act(message);
      else log.error({ err: error, subject }, 'NATS subscription ended');
    },
  });
}

/**
 * The same for what nodes send, without messages that ask to be answered anywhere but in the inbox of the node itself: the
 * hub may publish everywhere, so that an answer elsewhere would be the node speaking for the hub.
 */
export function listenToNodes(
  connection: NatsConnection,
  subject: string,
  act: (node: string, message: Msg) => void,
  log: Log,
): Subscription {
  const hear = (message: Msg) => {
    const node = nodeOfSubject(message.subject);
    const { reply = '' } = message;
    if (reply === '' || reply.startsWith(`${subjectsOf(node).inbox}.`)) return act(node, message);
    log.warn({ node, reply }, 'ignored a request whose reply subject belongs to another node');
  };
  return listen(connection, subject, hear, log);
}
