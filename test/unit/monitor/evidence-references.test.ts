import { expect, test } from 'vitest';
import { CheckSpec } from '#checks/index.ts';
import { createReferences } from '#monitor/evidence/references.ts';
import type { Target } from '#monitor/judge/target.ts';
import { target } from '../../support/scenario.ts';
import { down, nodeInfo, up } from '../../support/votes.ts';

const of = (name: string, spec: object): Target => target(name, { spec: CheckSpec.parse(spec) });
const tcp = (name: string, host: string) => of(name, { type: 'tcp', host });
const seen = (at: Readonly<Record<string, string | null>>) =>
  Object.entries(at).map(([node, address]) => ({
    node: nodeInfo(node),
    outcome: address === null ? down() : up(0.02, { address }),
  }));

const configuration = {};
const unchanged = () => configuration;

const failing = tcp('shop', 'shop.example:443');

test('those that the node reached last are chosen, two at most, over TCP', () => {
  const references = createReferences(() => true, unchanged);
  const web = of('web', { type: 'http', host: 'https://web.example/health' });
  references.roundDone(tcp('mail', 'mail.example:25'), seen({ de1: '192.0.2.1' }));
  references.roundDone(web, seen({ de1: '192.0.2.2', us1: '192.0.2.2' }));
  references.roundDone(of('echo', { type: 'ping', host: 'echo.example' }), seen({ de1: '192.0.2.3' }));
  references.roundDone(tcp('wiki', '[2001:db8::1]:80'), seen({ de1: '2001:db8::1' }));
  expect(references.choose('de1', failing)).toEqual([
    { name: 'wiki', host: '[2001:db8::1]:80' },
    { name: 'web', host: 'web.example:443' },
  ]);
  expect(references.choose('us1', failing)).toEqual([{ name: 'web', host: 'web.example:443' }]);
  expect(references.choose('fr1', failing)).toEqual([]);
});

test('what this node alone fails to reach stays, and what is down does not', () => {
  const references = createReferences(() => true, unchanged);
  const [mail, wiki] = [tcp('mail', 'mail.example:25'), tcp('wiki', 'wiki.example:80')];
  for (const [index, one] of [mail, wiki].entries())
    references.roundDone(one, seen({ de1: `192.0.2.${index}`, us1: `192.0.2.${index}` }));
  references.roundDone(mail, seen({ de1: null, us1: '192.0.2.0' }));
  references.roundDone(wiki, seen({ de1: null, us1: null }));
  expect(references.choose('de1', failing)).toEqual([{ name: 'mail', host: 'mail.example:25' }]);
});

test('of a target that most others see down the state at this node is no sign', () => {
  const references = createReferences(() => true, unchanged);
  const mail = tcp('mail', 'mail.example:25');
  references.roundDone(mail, seen({ de1: '192.0.2.1', us1: '192.0.2.1', fr1: '192.0.2.1' }));
  references.roundDone(mail, seen({ de1: '192.0.2.1', us1: null, fr1: null }));
  expect(references.choose('de1', failing)).toEqual([]);
  references.roundDone(mail, seen({ de1: '192.0.2.1', us1: null, fr1: '192.0.2.1' }));
  expect(references.choose('de1', failing)).toHaveLength(1);
  references.roundDone(mail, seen({ de1: null }));
  expect(references.choose('de1', failing)).toEqual([]);
});

test('neither the host of the target nor one host twice is chosen, and nothing that is not watched as it was', () => {
  const removed = tcp('removed', 'removed.example:80');
  const references = createReferences((one) => one !== removed, unchanged);
  const all = [
    tcp('other', 'other.example:1'),
    tcp('alias', 'alias.example:2'),
    tcp('again', 'other.example:3'),
    tcp('same', 'shop.example:80'),
    removed,
  ];
  const addresses = ['192.0.2.1', '192.0.2.1', '192.0.2.9', '192.0.2.3', '192.0.2.4'];
  for (const [index, one] of all.entries()) references.roundDone(one, seen({ de1: addresses[index] ?? '' }));
  expect(references.choose('de1', failing)).toEqual([
    { name: 'again', host: 'other.example:3' },
    { name: 'alias', host: 'alias.example:2' },
  ]);
});

test('of many targets a few are known for each node, and others take the place of what goes down', () => {
  const references = createReferences(() => true, unchanged);
  const all = Array.from({ length: 40 }, (_, index) => tcp(`t${index}`, `t${index}.example:80`));
  const round = (isUp: (index: number) => boolean) => {
    for (const [index, one] of all.entries())
      references.roundDone(one, seen({ de1: isUp(index) ? `192.0.2.${index}` : null }));
  };
  round(() => true);
  expect(references.choose('de1', failing).map(({ name }) => name)).toEqual(['t15', 't14']);
  round((index) => index > 20);
  expect(references.choose('de1', failing).map(({ name }) => name)).toEqual(['t36', 't35']);
});

test('targets that are configured no more make room for others', () => {
  let watched: readonly Target[] = [];
  const asked: string[] = [];
  const isWatched = (one: Target) => {
    asked.push(one.name);
    return watched.includes(one);
  };
  const references = createReferences(isWatched, () => watched);
  const gone = Array.from({ length: 20 }, (_, index) => tcp(`gone-${index}`, `gone-${index}.example:25`));
  watched = gone;
  for (const [index, one] of gone.entries()) references.roundDone(one, seen({ de1: `192.0.2.${index}` }));
  const all = asked.length;
  for (const [index, one] of gone.entries()) references.roundDone(one, seen({ de1: `192.0.2.${index}` }));
  expect(asked).toHaveLength(all);
  const mail = tcp('mail', 'mail.example:25');
  watched = [mail];
  references.roundDone(mail, seen({ de1: '192.0.2.99' }));
  expect(references.choose('de1', failing)).toEqual([{ name: 'mail', host: 'mail.example:25' }]);
});
