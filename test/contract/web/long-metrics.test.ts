import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { round, testMetrics, textOf, watched } from '../../support/metrics.ts';
import { serveWeb } from '../../support/web.ts';

// Parts of it share their room in turn, so a reader that is behind must not get what is written into it next.
test.each([{}, { 'accept-encoding': 'gzip' }])(
  'a scrape of megabytes arrives as it was written: %j',
  async (headers) => {
    const metrics = testMetrics();
    const names = Array.from({ length: 1_500 }, (_, index) => `target-${index}`);
    metrics.targetsChanged(names.map((name) => watched(name)));
    for (const name of names) metrics.roundDone(round(name));
    const expected = ofTargets(await textOf(metrics));
    expect(expected.length).toBeGreaterThan(10 * 524_288);

    await using server = await serveWeb({ metrics });
    const slow = get({ host: '127.0.0.1', port: server.addr().port, path: '/metrics', headers });
    const [response] = (await once(slow, 'response')) as [IncomingMessage];
    const parts: Buffer[] = [];
    for await (const part of response) {
      parts.push(part as Buffer);
      if (parts.length % 8 === 0) await wait(2);
    }
    const body = Buffer.concat(parts);
    const text = 'accept-encoding' in headers ? gunzipSync(body) : body;
    expect(ofTargets(text.toString()) === expected).toBe(true);
  },
);

// Figures of the process are others each time.
const ofTargets = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.includes('target="'))
    .join('\n');
