import { expect, test } from 'vitest';
import { systemClock } from '#kernel/clock.ts';
import { sampleMessages } from '#monitor/notify/sample-messages.ts';
import { bodyText, httpServices } from '../../support/http-services.ts';
import { startSink } from '../../support/http-sink.ts';

test.each(httpServices)('$name takes every sample, and shows that it is one', async (service) => {
  const answer = service.fake();
  await using sink = await startSink(answer);
  const channel = service.contact(sink.origin).open(systemClock);
  const beginnings = new Map<string, string>();
  for (const message of sampleMessages('UTC', systemClock.now(), 'ops')) {
    const before = sink.received.length;
    const receipt = await channel.send({ ...message, beginnings }, 'ops', AbortSignal.timeout(20_000));
    expect(receipt, `${message.kind}: ${JSON.stringify(sink.received.at(-1))}`).toMatchObject({ kind: 'delivered' });
    if (receipt.kind === 'delivered' && receipt.reference !== undefined)
      for (const { id } of message.incidents) beginnings.set(id, receipt.reference);
    const texts = sink.received.slice(before).map((one) => bodyText(one) + one.path);
    // What only ends an alert has no words.
    if (message.kind === 'opened') expect(texts.join('\n')).toMatch(/\[TEST\]|test\W+true|nothing has happened/);
  }
  await channel.close();
});
