import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandHere } from '../../support/command.ts';
import { tempFolder } from '../../support/store.ts';

async function check(text: string) {
  using folder = tempFolder();
  const config = join(folder.path, 'watchpost.yaml');
  writeFileSync(config, text);
  const { code, out, err } = await commandHere(['config', 'check', '--json', '--config', config], {
    cwd: folder.path,
  });
  expect(err).toBe('');
  return { code, report: JSON.parse(out.replaceAll(folder.path, '')) as unknown };
}

test('config check says how many targets alert nobody, for which severities, and which pattern no file matches', async () => {
  const { code, report } = await check(`
targets:
  shop: { check: tcp, host: "127.0.0.1:1" }
  web: { check: tcp, host: "127.0.0.1:2", notify: [all] }
targets_from: { edge: { files: [nowhere/*.json], check: tcp } }
defaults: { notify: [ops] }
notify:
  ops: { severities: [warning], email: { to: [ops@example.com] } }
  all: { email: { to: [all@example.com] } }
`);
  expect(code).toBe(0);
  expect(report).toMatchObject({
    good: true,
    warnings: [
      '1 target has no recipient for critical incidents: shop',
      'no file matches /nowhere/*.json, named in targets_from',
    ],
  });
});

test('with service.url a default timeout gives way to a short interval, one that was written does not', async () => {
  const config = (more: string) => `
service: { url: "https://check.example.com" }
defaults: { every: 6s }
notify: { ops: { email: { to: [ops@example.com] } } }
targets: { shop: { check: tcp, host: "127.0.0.1:1"${more} } }
`;
  expect(await check(config(''))).toMatchObject({ code: 0, report: { good: true, warnings: [] } });
  expect(await check(config(', timeout: 3s'))).toMatchObject({
    code: 2,
    report: { good: false, problems: [expect.stringContaining('targets.shop.timeout')] },
  });
});
