import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NatsConnection } from '@nats-io/transport-node';
import { afterEach, describe, expect, test } from 'vitest';
import { inboxOf, subjectsOf } from '#protocol/nodes.ts';
import { dial } from '#transport/nats/connection.ts';
import { tcpCommand } from '../../support/node-command.ts';
import { issue, issueAuthority } from '../../support/certificates.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { natsObstacle, startNats } from '../../support/nats-server.ts';
import { measured, quickTimes, startHub, startNode } from '../../support/remote-nodes.ts';
import { report, result, signInAs } from '../../support/rogue-node.ts';

const never = new AbortController().signal;
const command = tcpCommand('fine:1');

describe.skipIf(natsObstacle() !== null)('who is answered over NATS', () => {
  const opened: NatsConnection[] = [];
  afterEach(async () => {
    for (const connection of opened.splice(0)) await connection.close();
  });

  test.each([
    { what: 'a report', subject: subjectsOf('jp1').report, payload: JSON.stringify(report({ phase: 'joining' })) },
    { what: 'a result', subject: subjectsOf('jp1').result, payload: result('made.up') },
  ])('a node cannot make the hub speak for it, with $what', async ({ subject, payload }) => {
    await using server = await startNats({ nodes: ['us1', 'jp1'] });
    const { log, lines } = memoryLog();
    await using hub = await startHub(server, { log });
    await using node = startNode(server, 'us1');
    await hub.transport.run('us1', command, never);
    const thief = await signInAs(server, 'jp1');
    const witness = await signInAs(server);
    opened.push(thief, witness);
    const heard: string[] = [];
    const elsewhere = [
      `${inboxOf('us1')}.${node.node.process}`,
      inboxOf('jp1'),
      `${inboxOf('hub')}.x`,
      subjectsOf('us1').command(node.node.process),
      subjectsOf('us1').abort,
    ];
    for (const where of elsewhere)
      witness.subscribe(where, { callback: (_, { subject: to, data }) => void (data.length > 0 && heard.push(to)) });
    await witness.flush();
    for (const reply of elsewhere) thief.publish(subject, payload, { reply });
    const own = thief.request(subject, payload, { timeout: 30_000 });
    // The hub answers in order: whatever it says to the others is said before this, and has passed the server.
    expect((await own).json()).toBeTypeOf('object');
    await witness.flush();
    expect(heard).toEqual([]);
    expect(
      lines.filter(({ msg }) => msg === 'ignored a request whose reply subject belongs to another node'),
    ).toHaveLength(elsewhere.length);
    expect(await hub.transport.run('us1', command, never)).toEqual(measured);
  });

  test.each([
    { names: [], ips: ['127.0.0.1'], reached: true },
    { names: ['localhost'], ips: [], reached: false },
  ])('tls:// by address wants a certificate for that address, not $names', async ({ names, ips, reached }) => {
    const ca = await issueAuthority();
    const { cert, key } = await issue({ names, ips, ca });
    await using server = await startNats();
    const path = (name: string, text: string) => {
      writeFileSync(join(server.folder, name), text);
      return join(server.folder, name);
    };
    await server.stop();
    await server.start(`tls { cert_file: "${path('cert.pem', cert)}", key_file: "${path('key.pem', key)}" }`);
    const account = { ...server.account(), servers: [`tls://127.0.0.1:${server.port}`], ca: ca.cert };
    const dialled = dial(account, quickTimes);
    if (reached) opened.push(await dialled);
    else await expect(dialled).rejects.toThrow(/127\.0\.0\.1/);
  });
});
