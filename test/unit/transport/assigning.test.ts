import { errors } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { CheckSpec } from '#checks/index.ts';
import { protocolRange, type Report } from '#protocol/nodes.ts';
import { AssignMessage, type AssignedTarget, type Assignment } from '#protocol/watching.ts';
import { createAssigning } from '#transport/nats/assigning.ts';
import { memoryLog } from '../../support/memory-log.ts';

const many = (count: number): readonly AssignedTarget[] =>
  Array.from({ length: count }, (_, index) => ({
    name: `t${index}`,
    revision: 'one',
    schedule: { kind: 'every', everyMs: 60_000 },
    spec: CheckSpec.parse({ type: 'tcp', host: `t${index}.example.com:443` }),
    policy: 'private',
    deadlineMs: 5_000,
  }));

const report = (changes: Partial<Report> = {}) =>
  ({ process: 'one', phase: 'serving', protocol: [...protocolRange], ...changes }) as Report;

interface Sent {
  readonly message: AssignMessage;
  readonly answerMs: number;
}

/** A node whose answers the test gives, one after the other. */
function sender() {
  const sent: Sent[] = [];
  const answers: PromiseWithResolvers<boolean>[] = [];
  const { log, lines } = memoryLog();
  const assigning = createAssigning({
    epoch: 'run',
    answerMs: 1_500,
    async send(_, __, text, answerMs) {
      sent.push({ message: AssignMessage.parse(JSON.parse(text)), answerMs });
      const answer = Promise.withResolvers<boolean>();
      answers.push(answer);
      return answer.promise;
    },
    isThere: async () => true,
    lose: () => {},
    listener: () => ({ watching: () => {}, seen: () => {} }),
    log,
  });
  const settle = async () => new Promise((resolve) => setImmediate(resolve));
  return {
    assigning,
    sent,
    lines,
    accept: async () => {
      answers.shift()?.resolve(true);
      await settle();
    },
    fail: async (error: Error = new errors.TimeoutError()) => {
      answers.shift()?.reject(error);
      await settle();
    },
  };
}

const assignment = (number: number, count = 1_000): Assignment => ({ number, targets: many(count) });

test('a part that is not answered in time is sent again, with twice the time, and none before it is', async () => {
  const { assigning, sent, accept, fail, lines } = sender();
  assigning.assign('de1', assignment(1));
  assigning.heard('de1', report());
  await accept();
  await fail();
  // Its reports, which say that it does not watch it yet, begin nothing anew.
  assigning.heard('de1', report());
  await fail();
  await accept();
  await accept();
  expect(sent.map(({ message, answerMs }) => [message.part.index, answerMs])).toEqual([
    [0, 1_500],
    [1, 1_500],
    [1, 3_000],
    [1, 6_000],
    [2, 6_000],
    [3, 6_000],
  ]);
  expect(lines).toEqual([]);
});

test('what is to be watched meanwhile is sent instead', async () => {
  const { assigning, sent, fail, accept } = sender();
  assigning.assign('de1', assignment(1));
  assigning.heard('de1', report());
  assigning.assign('de1', assignment(2, 1));
  await fail();
  assigning.heard('de1', report());
  await accept();
  expect(sent.map(({ message }) => message.number)).toEqual([1, 2]);
});

test('a process that does not answer for minutes, or is gone, is told of again when it is heard', async () => {
  const { assigning, sent, fail, lines } = sender();
  assigning.assign('de1', assignment(1, 1));
  assigning.heard('de1', report());
  for (let times = 0; times < 6; times += 1) await fail();
  expect(sent.map(({ answerMs }) => answerMs)).toEqual([1_500, 3_000, 6_000, 12_000, 24_000, 48_000]);
  expect(lines.map(({ msg }) => msg)).toEqual(['cannot send a node its assignment; retrying']);
  assigning.heard('de1', report());
  expect(sent.at(-1)?.answerMs).toBe(1_500);
  await fail(new Error('not connected'));
  expect(sent).toHaveLength(7);
  assigning.heard('de1', report());
  expect(sent).toHaveLength(8);
});
