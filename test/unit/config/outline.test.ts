import { expect, test } from 'vitest';
import { loadConfig } from '#config/load.ts';
import { Outline, outlineOf } from '#config/apply/outline.ts';

const path = new URL('../../fixtures/config/good/full.yaml', import.meta.url).pathname;
const load = () => loadConfig({ path, env: { SMTP_HOST: 'mail.example.com' } });

test('an outline says everything by the names of the file, and no secret', async () => {
  const outline = outlineOf(await load(), 'salt');
  expect(Outline.parse(JSON.parse(JSON.stringify(outline)))).toEqual(outline);
  expect(JSON.stringify(outline)).not.toContain('hunter2');
  expect(outline.says).toMatchObject({
    'http.listen': expect.stringMatching(/:\d+$/),
    'smtp.username': expect.any(String),
    'retention.raw': expect.stringMatching(/^\d+d$/),
  });
  const [first] = outline.targets;
  expect(first?.says).toMatchObject({ check: first?.check, nodes: expect.any(String), host: expect.any(String) });
});

test('the same configuration has the same outline; another secret shows, and what it is does not', async () => {
  const config = await load();
  expect(outlineOf(config, 'salt')).toEqual(outlineOf(await load(), 'salt'));
  const other = { ...config, http: { ...config.http, users: { ops: 'another hash' } } };
  const [one, two] = [
    outlineOf({ ...config, http: { ...config.http, users: { ops: 'a hash' } } }, 'salt'),
    outlineOf(other, 'salt'),
  ];
  expect(one.says).toEqual(two.says);
  expect(one.says['http.users.ops']).toBe('[secret]');
  expect(one.secrets).not.toBe(two.secrets);
  expect(outlineOf(other, 'another salt').secrets).not.toBe(two.secrets);
});
