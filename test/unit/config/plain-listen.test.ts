import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readListen } from '#config/apply/listen.ts';
import { plainListen } from '#config/read/plain-listen.ts';

/** What the whole reader says. */
async function whole(texts: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'watchpost-listen-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [index, text] of texts.entries()) writeFileSync(join(folder, `${index}.yaml`), text);
  return readListen({ path: folder, env: {} });
}

test.each([
  ['nothing about it', ['targets:\n  shop: { check: tcp, host: "shop:80" }\n']],
  [
    'a block',
    ['# mine\ndata: w.db\nhttp:\n  listen: 127.0.0.1:9090\n  users:\n    ops:\n      listen: 1.2.3.4:5\ntargets: {}\n'],
  ],
  ['a block with comments', ['http: # pages\n\n  # where\n  listen: 0.0.0.0:80 # all\n  admin: "127.0.0.1:81"\n']],
  [
    'a block of another depth, the last of the file',
    ['smtp:\n    url: smtp://mail\nhttp:\n    admin: \'localhost:7\'\n    listen: "[::1]:8080"'],
  ],
  ['braces', ['http: { listen: 127.0.0.1:9090 }\n']],
  ['braces with two, and a comment', ['http: { listen: "0.0.0.0:9090", admin: 127.0.0.1:81 } # so\n']],
  ['braces around an address of IPv6', ['http: { listen: "[::1]:9090" }\n']],
  ['lines of Windows', ['data: w.db\r\nhttp:\r\n  listen: 127.0.0.1:9090\r\ntargets: {}\r\n']],
  ['a file of several', ['targets: {}\n', 'http:\n  listen: 127.0.0.1:9090\n', 'rules: {}\n']],
  ['an empty section', ['http:\ndata: w.db\n']],
  [
    'text that looks like it',
    [
      'notify:\n  ops:\n    webhook:\n      url: https://x\n      body: |\n        http:\n          listen: 1.1.1.1:1\n',
    ],
  ],
])('%s is read as by the whole reader', async (_, texts) => {
  const read = plainListen(texts);
  expect(read).not.toBeNull();
  expect(read).toEqual(await whole(texts));
});

test.each([
  ['a variable', 'http: { listen: "${PLACE}:80" }'],
  ['an anchor', 'http: &web\n  listen: 127.0.0.1:80\n'],
  ['an alias', 'http: *web\n'],
  ['an alias inside', 'http:\n  listen: *where\n'],
  ['a merge', 'http:\n  <<: *web\n  admin: 127.0.0.1:80\n'],
  ['a key in quotes', '"http": { listen: 127.0.0.1:80 }'],
  ['the whole in braces', '{ http: { listen: 127.0.0.1:80 } }'],
  ['two documents', 'http: { listen: 127.0.0.1:80 }\n---\ntargets: {}\n'],
  ['a directive', '%YAML 1.2\n---\nhttp: { listen: 127.0.0.1:80 }\n'],
  ['two sections', 'http: { listen: 127.0.0.1:80 }\nhttp: { listen: 127.0.0.1:81 }\n'],
  ['the key twice', 'http:\n  listen: 127.0.0.1:80\n  listen: 127.0.0.1:81\n'],
  ['tabs', 'http:\n\tlisten: 127.0.0.1:80\n'],
  ['braces in braces', 'http: { users: { ops: { password_hash: x } }, listen: 127.0.0.1:80 }'],
  ['braces over lines', 'http: {\n  listen: 127.0.0.1:80 }'],
  ['text over lines', 'http:\n  listen: >\n    127.0.0.1:80\n'],
  ['a bad address', 'http: { listen: nowhere }'],
  ['a bad port', 'http: { listen: 127.0.0.1:70000 }'],
  ['a number for an address', 'http: { listen: 2130706433:80 }'],
  ['a list', 'http: { listen: [::1]:80 }'],
  ['a comment in braces', 'http: { listen: 127.0.0.1:80 # , admin: 1 }'],
])('%s is left to the whole reader', (_, text) => {
  expect(plainListen([text])).toBeNull();
});

test('a section in two files is left to the whole reader', () => {
  expect(plainListen(['http: { listen: 127.0.0.1:80 }', 'http: { admin: 127.0.0.1:81 }'])).toBeNull();
});
