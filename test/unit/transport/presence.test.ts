import { expect, test } from 'vitest';
import { watchingSince } from '#protocol/watching.ts';
import { createPresence } from '#transport/nats/presence.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { report } from '../../support/rogue-node.ts';
import { nodeInfo } from '../../support/votes.ts';

test('a process is silent after fifteen looks without a word, however long they took', async () => {
  const clock = new FakeClock();
  const presence = createPresence(nodeInfo('de1'), clock);
  presence.hear(report());
  // The hub was held up for a minute: it looks once, and has read nothing yet.
  await clock.advance(60_000);
  expect(presence.forgetSilent()).toEqual([]);
  presence.heard('rogue');
  for (let look = 0; look < 15; look += 1) expect(presence.forgetSilent()).toEqual([]);
  expect(presence.forgetSilent()).toEqual(['rogue']);
  expect(presence.status).toMatchObject({ online: false, reason: 'it has not reported for 15 s' });
});

test('of two processes the one that is not heard gets no commands, and the node stays online', async () => {
  const clock = new FakeClock();
  const presence = createPresence(nodeInfo('de1'), clock);
  presence.hear(report({ process: 'a' }));
  presence.hear(report({ process: 'b', capacity: 7 }));
  await clock.advance(100);
  expect(presence.mute('a', clock.elapsed(), 'it took no command')).toBe(true);
  expect(presence.recipients).toEqual([{ process: 'b', capacity: 7 }]);
  expect(presence.obstacle).toBe(null);
  expect(presence.mute('b', 0, 'it took no command')).toBe(false);
  presence.mute('b', clock.elapsed() + 1, 'it took no command');
  expect(presence.obstacle).toBe('it took no command');
  presence.heard('a');
  expect(presence.recipients).toMatchObject([{ process: 'a' }]);
  expect(presence.obstacle).toBe(null);
});

test('a node has at most sixteen processes, and another one is told so', async () => {
  const clock = new FakeClock();
  const presence = createPresence(nodeInfo('de1'), clock);
  for (let count = 0; count < 16; count += 1) expect(presence.hear(report({ process: `p${count}` }))).toBe(null);
  for (let count = 0; count < 1_000; count += 1)
    expect(presence.hear(report({ process: `more${count}` }))).toBe('16 processes serve this node already');
  expect(presence.summary.processes).toBe(16);
  expect(presence.hear(report({ process: 'p0', phase: 'leaving' }))).toBe(null);
  expect(presence.hear(report({ process: 'more' }))).toBe(null);
});

test('a first report with what is kept says nothing of what was sent: it may be from before the node heard that it was asked', () => {
  const presence = createPresence(nodeInfo('de1'), new FakeClock());
  presence.hear(report({ spooled: 0 }));
  expect(presence.hasSentAll).toBe(true);
  presence.hear(report({ process: 'b', spooled: 2, unsent: 0 }));
  expect(presence.hasSentAll).toBe(false);
  presence.hear(report({ process: 'b', spooled: 2, unsent: 2 }));
  expect(presence.hasSentAll).toBe(false);
  presence.hear(report({ process: 'b', spooled: 3, unsent: 0 }));
  expect(presence.hasSentAll).toBe(true);
  presence.ask();
  expect(presence.hasSentAll).toBe(false);
  presence.hear(report({ spooled: 0 }));
  presence.hear(report({ process: 'b', spooled: 3, unsent: 0 }));
  expect(presence.hasSentAll).toBe(false);
  presence.hear(report({ process: 'b', spooled: 3, unsent: 0 }));
  expect(presence.hasSentAll).toBe(true);
});

test('what a node of this process keeps comes without NATS: its first report says it', () => {
  const presence = createPresence(nodeInfo('de1'), new FakeClock());
  presence.hear(report({ spooled: 2, unsent: 0 }), true);
  expect(presence.hasSentAll).toBe(true);
});

test('a node is taken to keep the time until its first report says that its version does not', () => {
  const presence = createPresence(nodeInfo('de1'), new FakeClock(), [1, 9]);
  expect(presence.status).toMatchObject({ online: false, keepsTime: true });
  presence.hear(report({ protocol: [1, watchingSince - 1] }));
  expect(presence.status).toMatchObject({ online: true, keepsTime: false });
  presence.hear(report({ protocol: [1, watchingSince] }));
  expect(presence.status).toMatchObject({ online: true, keepsTime: true });
});
