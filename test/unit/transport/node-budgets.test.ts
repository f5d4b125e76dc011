import type { Msg } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { createNodeBudgets } from '#transport/nats/node-budgets.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { memoryLog } from '../../support/memory-log.ts';

function play() {
  const clock = new FakeClock();
  const { log, lines } = memoryLog();
  const budgets = createNodeBudgets(clock, log);
  const heard = new Map<string, number>();
  const answers: string[] = [];
  const hear = (node: string, { data }: Pick<Msg, 'data'>) =>
    void heard.set(node, (heard.get(node) ?? 0) + data.length);
  const send = (via: typeof hear, node: string, text: string) => {
    const message = { data: Buffer.from(text), respond: (answer: string) => answers.push(answer) > 0 };
    via(node, message);
  };
  const [results, reports] = [budgets.ofResults(hear), budgets.ofReports(hear)] as (typeof hear)[];
  const isOver = () => budgets.marked([{ name: 'de1' }, { name: 'us1' }]).map(({ isOverBudget }) => isOverBudget);
  const excess = () => budgets.exceeded();
  return {
    clock,
    lines,
    heard,
    answers,
    isOver,
    excess,
    result: send.bind(null, results!),
    report: send.bind(null, reports!),
  };
}

const batch = (ticket: string, bytes: number) =>
  `{"kind":"batch","protocol":[1,3],"ticket":"${ticket}","process":"p","observations":[${'x'.repeat(bytes)}`;

test('a node that sends 30 MB a second is read at 8, in one line of log, and others are not held up', async () => {
  const { clock, lines, heard, answers, isOver, result } = play();
  const [large, small] = [batch('aB3', 60_000), batch('t', 500)];
  for (let count = 0; count < 30 * 500; count += 1) {
    result('de1', large);
    result('us1', small);
    await clock.advance(2);
  }
  expect((heard.get('de1') ?? 0) / 30).toBeGreaterThan(8e6);
  expect((heard.get('de1') ?? 0) / 30).toBeLessThan(9e6);
  expect(heard.get('us1')).toBe(30 * 500 * small.length);
  expect(answers.length).toBeGreaterThan(10_000);
  expect(new Set(answers)).toEqual(new Set(['{"ticket":"aB3","state":"later","reason":null}']));
  expect(lines).toMatchObject([{ node: 'de1', count: 1, reason: 'more than 8 MB a second' }]);
  expect(isOver()).toEqual([true, false]);
  await clock.advance(60_000);
  expect(isOver()).toEqual([false, false]);
});

test('messages and reports of a node have a budget too', () => {
  const { lines, heard, answers, result, report } = play();
  for (let count = 0; count < 20_000; count += 1) result('de1', `{"protocol":[1,3],"ticket":"a-_b.c","outcome":0}`);
  expect(answers).toHaveLength(10_000);
  expect(answers[0]).toContain('"ticket":"a-_b.c"');
  for (let count = 0; count < 1_000; count += 1) report('us1', '1');
  expect(heard.get('us1')).toBe(100);
  for (let count = 0; count < 10; count += 1) result('de1', 'no JSON at all');
  expect(answers).toHaveLength(10_000);
  expect(lines.map(({ node }) => node)).toEqual(['de1', 'us1']);
});

const named = (process: string) => `{"protocol":[1,3],"process":"${process}","version":"1"}`;

test('a node has a budget of process names, which are read before anything else is', async () => {
  const { clock, heard, answers, isOver, excess, report, result } = play();
  const one = named('p100').length;
  for (let count = 100; count < 190; count += 1) report('de1', named(`p${count}`));
  expect(heard.get('de1')).toBe(64 * one);
  expect([isOver(), excess()]).toEqual([[true, false], 'node de1 sends more than 64 processes a minute']);
  // Those that are known go on, and so do other nodes.
  report('de1', named('p100'));
  result('us1', `{"kind":"batch","ticket":"t","process":"a","sightings":[]}`);
  expect([heard.get('de1'), heard.has('us1')]).toEqual([65 * one, true]);
  result('de1', `{"kind":"batch","ticket":"t1","process":"new","sightings":[]}`);
  expect(answers).toEqual(['{"ticket":"t1","state":"later","reason":null}']);
  await clock.advance(60_000);
  report('de1', named('p300'));
  expect([heard.get('de1'), isOver(), excess()]).toEqual([66 * one, [false, false], null]);
});
