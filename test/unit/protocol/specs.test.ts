import { expect, test } from 'vitest';
import { CheckSpec } from '#checks/index.ts';
import { decodeSpec, encodeSpec } from '#protocol/nodes.ts';

// What a node of version 0.1.0 reads: an option that came later is left out where nobody asks for it, or such a node would refuse every check.
const written = {
  ping: { type: 'ping', host: 'a.example', count: 4, interval: '500ms', timeout: '3s', size: '56B' },
  http: {
    type: 'http',
    host: 'http://a.example:80',
    timeout: '10s',
    method: 'GET',
    headers: {},
    http2: 'auto',
    redirects: 0,
    tls: { verify: true },
    max_body: '1048576B',
    expect: { headers: {} },
  },
  tcp: { type: 'tcp', host: 'a.example:80', timeout: '5s', tls: false },
  dns: { type: 'dns', host: 'a.example', timeout: '5s', protocol: 'udp', recursion: true },
  udp: { type: 'udp', host: 'a.example:80', timeout: '3s', tries: 3 },
};

test.each(Object.entries(written))(
  'a %s check without newer options reads as the first version wrote it',
  (type, spec) => {
    expect(encodeSpec(CheckSpec.parse({ type, host: 'a.example' }))).toEqual(spec);
  },
);

test('a node says which option it does not know instead of checking something else', () => {
  expect(decodeSpec({ type: 'ping', host: 'a.example', colour: 'blue' })).toBe(
    'this node does not understand the check, its program may be older than that of the hub: Unrecognized key: "colour"',
  );
  expect(decodeSpec({ type: 'dns', host: 'a.example', protocol: 'pigeon' })).toContain('protocol: Invalid option');
});
