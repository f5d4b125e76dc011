import { expect, test } from 'vitest';
import { startHttpTarget } from '../support/http-target.ts';
import { createProgram, eventually } from '../support/program.ts';

test('a report has a picture of its state, which links to it show and its page offers once it is finished', async () => {
  await using target = await startHttpTarget();
  await using program = await createProgram();
  const { url } = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0, public_url: https://hub.example }
service: { allow_private: true }
`);
  const start = async (host: string) => {
    const body = JSON.stringify({ type: 'tcp', host });
    const headers = { 'content-type': 'application/json', accept: 'application/json' };
    // The node may be a moment behind the web server.
    return eventually(10_000, async () => {
      const response = await fetch(`${url}/api/v1/checks`, { method: 'POST', headers, body });
      expect(response.status).toBe(201);
      return ((await response.json()) as { id: string }).id;
    });
  };
  const page = async (id: string) =>
    (await fetch(`${url}/check-report/${id}`, { headers: { accept: 'text/html' } })).text();
  const id = await start(new URL(target.url).host);
  await eventually(30_000, async () => expect(await page(id)).toContain(`download="check-${id}.png">Picture</a>`));
  const shown = await page(id);
  const image = `https://hub.example/check-report/${id}/card.png?state=up-1`;
  expect(shown).toContain(`<meta property="og:image" content="${image}">`);
  expect(shown).toMatch(/<meta property="og:title" content="tcp 127\.0\.0\.1:\d+: /);
  const picture = await fetch(`${url}/check-report/${id}/card.png`);
  expect(picture.headers.get('content-type')).toBe('image/png');
  const bytes = Buffer.from(await picture.arrayBuffer());
  expect(bytes.subarray(1, 4).toString()).toBe('PNG');

  await target.stop();
  const other = await start(new URL(target.url).host);
  await eventually(30_000, async () => expect(await page(other)).toContain('card.png?state=down-2'));
  const down = Buffer.from(await (await fetch(`${url}/check-report/${other}/card.png`)).arrayBuffer());
  expect(down.equals(bytes)).toBe(false);
  expect((await fetch(`${url}/check-report/nothing/card.png`)).status).toBe(404);
});
