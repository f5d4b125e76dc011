import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { devices, launchChromium } from '../support/chromium.ts';
import { command } from '../support/command.ts';
import { createProgram, eventually } from '../support/program.ts';
import { closedPort } from '../support/tcp-servers.ts';
import { writeYear } from '../support/written-year.ts';
import { createWorld, nodes, past } from './world.ts';

// `npm run pictures` takes the pictures of the documentation anew: the real program, watching servers of every kind on loopback from
// three addresses, with a year of history written beforehand. `-- --all FOLDER` takes every page instead, in every look.

const { values } = parseArgs({ options: { all: { type: 'string' } } });
const minute = 60_000;

const port = await closedPort();
await using world = await createWorld(port);
await using program = await createProgram();
const first = await program.start(world.config);
await first.end('SIGTERM');
writeYear(program.database, { targets: Object.keys(past), nodes: Object.keys(nodes), ...world.year });
const { url } = await program.start(world.config);
const config = ['--config', join(program.folder, 'watchpost.yaml')];

const incidents = async () =>
  ((await (await fetch(`${url}/api/v1/incidents`)).json()) as { incidents: { id: string; ended_at: string | null }[] })
    .incidents;
console.log('the shop is up, goes down, and comes back');
await fetch(`${url}/beat/${world.secret}`, { method: 'POST' });
await wait(20);
world.setShop(false);
const opened = await eventually(minute, async () => {
  const [found] = await incidents();
  if (found === undefined) throw new Error('no incident was opened');
  return found;
});
await wait(15);
world.setShop(true);
await eventually(minute, async () => {
  if ((await incidents()).some(({ ended_at: at }) => at === null)) throw new Error('the incident goes on');
});
await wait(20);
await command(['status', 'post', 'We move to another hall on Sunday: short breaks are possible.', ...config]);

await using browser = await launchChromium();
if (values.all === undefined) await illustrate(new URL('../../docs/images/', import.meta.url).pathname);
else await lookAtAll(values.all);

async function illustrate(folder: string): Promise<void> {
  const pictures = [
    { name: 'overview', path: '/', height: 620, scheme: 'light' },
    { name: 'target', path: '/targets/shop?span=7d', height: 760, scheme: 'dark' },
    { name: 'incident', path: `/incidents/${opened.id}`, height: 900, scheme: 'light' },
    { name: 'report', path: await report('http'), height: 760, scheme: 'light' },
    { name: 'status', path: '/status', height: 700, scheme: 'light' },
  ] as const;
  for (const { name, path, height, scheme } of pictures)
    await take({ viewport: { width: 1_100, height }, colorScheme: scheme }, [[name, path]], folder, false);
}

async function lookAtAll(folder: string): Promise<void> {
  const pages: (readonly [string, string])[] = [
    ['overview', '/'],
    ['overview-in-groups', '/?group=team'],
    ['overview-as-wall', '/?view=wall'],
    ['incidents', '/incidents'],
    ['incident', `/incidents/${opened.id}`],
    ['check', '/check'],
    ['nodes', '/nodes'],
    ['devices', '/devices'],
    ['status', '/status'],
    ['nothing', '/nothing'],
    ...Object.keys(past).map((name) => [`target-${name}`, `/targets/${name}`] as const),
  ];
  for (const type of Object.keys(world.hosts)) pages.push([`report-${type}`, await report(type)]);
  for (const [device, options] of Object.entries(devices))
    for (const colorScheme of ['light', 'dark'] as const)
      await take(
        { ...options, deviceScaleFactor: 1, colorScheme },
        pages,
        join(folder, `${device}-${colorScheme}`),
        true,
      );
}

async function take(
  look: Parameters<typeof browser.newContext>[0],
  pages: readonly (readonly [name: string, path: string])[],
  folder: string,
  fullPage: boolean,
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const context = await browser.newContext({ timezoneId: 'Europe/Berlin', baseURL: url, ...look });
  const page = await context.newPage();
  for (const [name, path] of pages) {
    // What was is looked up once; until then the page would ask again for it.
    do await page.goto(path);
    while ((await page.locator('body[data-again]').count()) > 0);
    if (path.startsWith('/targets/')) await page.locator('.u-axis').first().waitFor();
    await page.screenshot({ path: join(folder, `${name}.png`), fullPage, animations: 'disabled' });
    console.log(join(folder, `${name}.png`));
  }
  await context.close();
}

/** The address of a report on a check of this type by all nodes. */
async function report(type: string): Promise<string> {
  const asked = await fetch(`${url}/api/v1/checks`, {
    method: 'POST',
    redirect: 'manual',
    headers: { accept: 'text/html', origin: url },
    body: new URLSearchParams({ type, host: world.hosts[type] ?? '' }),
  });
  const { pathname } = new URL(asked.headers.get('location') ?? '/', url);
  await eventually(minute, async () => {
    const run = (await (await fetch(`${url}${pathname.replace('/check-report/', '/api/v1/checks/')}`)).json()) as {
      state: string;
    };
    if (run.state !== 'finished') throw new Error(`${pathname} is ${run.state}`);
  });
  return pathname;
}

async function wait(seconds: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
}
