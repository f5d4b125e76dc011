import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { natsObstacle } from '../support/nats-server.ts';
import { eventually } from '../support/program.ts';
import { needsProgram } from '../support/programs.ts';
import { startPrometheus } from '../support/prometheus.ts';
import { startWatchedWorld } from '../support/watched-world.ts';

const folder = new URL('../../config/grafana/', import.meta.url).pathname;

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

interface Dashboard {
  readonly templating: { readonly list: readonly { readonly type: string; readonly definition?: string }[] };
  readonly panels: readonly Panel[];
}

const dashboards = readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .map((file) => ({ file, ...(JSON.parse(readFileSync(folder + file, 'utf8')) as Dashboard) }));

/** Every query with where it stands. What lists the values of a variable is a query too. */
const queries = dashboards.flatMap(({ file, panels, templating }) => [
  ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ where: `${file}: ${title}`, expr }))),
  ...templating.list.flatMap(({ definition }) => {
    const [, series = '', label = ''] = /^label_values\((.*), (\w+)\)$/s.exec(definition ?? '') ?? [];
    return definition === undefined
      ? []
      : [{ where: `${file}: ${definition}`, expr: `count by (${label}) (${series})` }];
  }),
]);

const targets = ['shop', 'secure', 'loopback'];
const variables: Readonly<Record<string, string>> = {
  $job: 'watchpost',
  $instance: '.+',
  $node: '.+',
  $__rate_interval: '2m',
  $__range: '1m',
};

/** The query as Grafana would send it, for each target where it asks for one. */
function filled(expr: string): readonly string[] {
  const known = expr.replaceAll(/\$(?!target)\w+/g, (name) => variables[name] ?? name);
  return known.includes('$target') ? targets.map((target) => known.replaceAll('$target', target)) : [known];
}

test.for([
  { buckets: 'bounds', words: [] },
  { buckets: 'native', words: ['--enable-feature=native-histograms'] },
])('every query of every dashboard has data where histograms have $buckets buckets', async ({ words }, context) => {
  needsProgram(context, 'prometheus', 'prometheus');
  const obstacle = natsObstacle();
  if (obstacle !== null) context.skip(obstacle);
  expect(queries.length).toBeGreaterThan(60);
  await using world = await startWatchedWorld({ remote: true });
  await using prometheus = await startPrometheus(world.port, words, {
    // A scrape that takes too long on a busy machine would cost the 0 that it brings.
    scrape_interval: '1s',
    scrape_timeout: '1s',
  });
  // There is an incident, and it is told.
  await eventually(30_000, async () =>
    expect(await prometheus.query('watchpost_target_state{target="shop",state="up"} == 1')).toHaveLength(1),
  );
  await world.shop.stop();
  let left = queries;
  await eventually(60_000, async () => {
    const answered = await Promise.all(
      left.map(async ({ expr }) => {
        const results = await Promise.all(filled(expr).map(async (one) => prometheus.query(one)));
        return results.flat().some(({ value }) => !Number.isNaN(value));
      }),
    );
    left = left.filter((_, index) => answered[index] === false);
    expect(left).toEqual([]);
  });
});
