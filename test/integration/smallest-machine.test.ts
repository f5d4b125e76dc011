import { expect, test } from 'vitest';
import { startHttpTarget } from '../support/http-target.ts';
import { mailsIn } from '../support/mail-files.ts';
import { createProgram, eventually } from '../support/program.ts';
import { limitResources, limitsObstacle } from '../support/resource-limits.ts';
import { samplesOf } from '../support/samples.ts';

const obstacle = limitsObstacle();
const targets = 100;
const memoryBytes = 192 * 2 ** 20;

test.skipIf(obstacle !== null)(
  `with 192 MB and a quarter of a processor a hundred targets are checked, pages are shown and an outage is mailed${obstacle === null ? '' : ` (${obstacle})`}`,
  async () => {
    await using stack = new AsyncDisposableStack();
    const limits = stack.use(limitResources({ memoryBytes, cpu: 0.25 }));
    const program = stack.use(await createProgram({ prefix: limits.prefix }));
    const shop = stack.use(await startHttpTarget());
    const steady = stack.use(await startHttpTarget());
    const others = Array.from(
      { length: targets - 1 },
      (_, index) => `  t${index}: { check: http, host: "${steady.url}" }`,
    );
    const { url, process } = await program.start(`
data: watchpost.db
http: { listen: "127.0.0.1:0" }
defaults: { every: 5s, rules: [down], notify: [ops] }
targets:
  shop: { check: http, host: "${shop.url}" }
${others.join('\n')}
rules: { down: { rounds: 2, recover: 2 } }
notify: { ops: { email: { to: [ops@example.com] } } }
`);
    const textOf = async (path: string) => (await fetch(`${url}${path}`)).text();
    await eventually(60_000, async () => expect(await textOf('/')).toContain(`All ${targets} targets are up.`));
    await shop.stop();
    await eventually(60_000, async () =>
      expect((await mailsIn(program.folder)).map(({ subject }) => subject)).toContain(
        '[DOWN] shop: connection refused',
      ),
    );
    expect(await textOf('/')).toContain('shop has been down');
    for (const path of ['/nodes', '/incidents', '/targets/shop']) expect(await textOf(path)).toContain('</html>');
    const checked = [...samplesOf(await textOf('/metrics'))].filter(
      ([series, count]) => series.startsWith('watchpost_check_results_total{') && count > 0,
    );
    expect(checked.length).toBeGreaterThanOrEqual(targets);
    expect(process.exitCode).toBeNull();
    // The limits were in force: it was counted what it took.
    expect(limits.mostBytes).toBeGreaterThan(30e6);
  },
);
