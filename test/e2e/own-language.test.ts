import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startHttpTarget } from '../support/http-target.ts';
import { createProgram, eventually } from '../support/program.ts';

const config = (host: string) => `
data: watchpost.db
http: { listen: 127.0.0.1:0 }
languages: languages
defaults: { every: 1s }
targets: { shop: { check: tcp, host: "${host}", timeout: 900ms } }
pages: { status: { title: Example, targets: { shop: Web shop } } }
`;

test('visitors get a status page in a language of the operator, and files that change or are new are read', async () => {
  await using target = await startHttpTarget();
  await using program = await createProgram();
  await mkdir(join(program.folder, 'languages'));
  const write = async (up: string) =>
    writeFile(
      join(program.folder, 'languages', 'nl.json'),
      JSON.stringify({ name: 'Nederlands', locale: 'nl-NL', texts: { up } }),
    );
  await write('Alle diensten werken.');
  const { url, process } = await program.start(config(new URL(target.url).host));
  const page = async (accepted = 'nl-BE,fr;q=0.5') =>
    (await fetch(`${url}/status`, { headers: { 'accept-language': accepted } })).text();
  await eventually(30_000, async () => expect(await page()).toContain('Alle diensten werken.'));
  expect(await page()).toContain('<html lang="nl">');
  expect(await page()).toMatch(/lang=nl"[^>]*>Nederlands</);
  await write('Alles werkt.');
  process.kill('SIGHUP');
  await eventually(30_000, async () => expect(await page()).toContain('Alles werkt.'));
  await write('{wat} werkt.');
  process.kill('SIGHUP');
  await eventually(30_000, async () =>
    expect(await (await fetch(`${url}/metrics`)).text()).toContain('watchpost_config_last_reload_successful 0'),
  );
  expect(await page()).toContain('Alles werkt.');

  // Without a signal too, as any file of the configuration.
  await write('Alles is goed.');
  await eventually(30_000, async () => expect(await page()).toContain('Alles is goed.'));
  const norwegian = { name: 'Norsk', locale: 'nb-NO', texts: { up: 'Alt virker.' } };
  await writeFile(join(program.folder, 'languages', 'nb.json'), JSON.stringify(norwegian));
  await eventually(30_000, async () => expect(await page('nb')).toContain('Alt virker.'));
});
