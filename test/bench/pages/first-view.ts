import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Browser } from 'playwright-core';
import { dayMs } from '#kernel/units.ts';
import { devices, launchChromium } from '../../support/chromium.ts';
import { createProgram } from '../../support/program.ts';
import { tcpServer } from '../../support/tcp-servers.ts';
import { sumsOf, writeYear } from '../../support/written-year.ts';
import { figure, percentile, printTable } from '../tools/table.ts';
import { openViewers } from './viewers.ts';

const nodes = ['de1', 'us1', 'jp1'];
const years = 2;
const viewers = 1_000;

/** What a first visitor of `/` waits for and gets, with 1,000 targets and two years of history, without other viewers and with 1,000. */
export async function measureFirstView(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      first: { type: 'boolean' },
      targets: { type: 'string', default: '1000' },
      loads: { type: 'string', default: '300' },
      views: { type: 'string', default: '10' },
    },
  });
  const targets = Array.from(
    { length: Number(values.targets) },
    (_, index) => `target-${String(index).padStart(4, '0')}`,
  );
  await using server = await tcpServer((socket) => socket.end());
  await using program = await createProgram();
  const config = configOf(targets, server.port);
  const first = await program.start(config);
  await first.end('SIGTERM');
  writeHistory(program.database, targets);
  const running = await program.start(config);
  // All have been checked once, and the history was read.
  await sleep(45_000);
  const browser = await launchChromium();
  try {
    const rows: string[][] = [];
    for (const path of ['/', '/?view=wall']) {
      const times = await firstBytes(`${running.url}${path}`, Number(values.loads));
      rows.push([path, '0', ...times, ...(await view(browser, running.url, path, Number(values.views)))]);
    }
    using crowd = await openViewers(`${running.url}/live/overview`, viewers);
    await sleep(5_000);
    const times = await firstBytes(`${running.url}/`, Number(values.loads));
    rows.push(['/', String(crowd.count()), ...times, ...(await view(browser, running.url, '/', Number(values.views)))]);
    const heads = ['page', 'viewers', 'first byte p50 ms', 'p99 ms', 'LCP p50 ms', 'LCP max ms', 'DOM nodes', 'kB'];
    printTable(heads, rows);
  } finally {
    await browser.close();
  }
  await running.end('SIGKILL');
}

const configOf = (targets: readonly string[], port: number) => `
data: watchpost.db
http: { listen: 127.0.0.1:0, connections: 1200 }
nodes:
${nodes.map((name) => `  ${name}: {}`).join('\n')}
defaults: { every: 30s, objective: "99.9% over 30d" }
targets:
${targets.map((name, index) => `  ${name}: { check: tcp, host: "127.0.0.1:${port}", labels: { team: team${index % 10} } }`).join('\n')}
`;

function writeHistory(database: string, targets: readonly string[]): void {
  const ordinary = (rounds: number) =>
    sumsOf(Array.from({ length: rounds }, (_, round) => 20_000 + ((round * 7_919) % 20_000)));
  const [hour, day] = [ordinary(120), ordinary(120 * 24)] as const;
  const today = Math.floor(Date.now() / dayMs);
  // Ten minutes a month.
  const outages = Array.from({ length: 12 * years }, (_, month) => (today - (12 * years - 1 - month) * 30) * dayMs).map(
    (to) => ({ from: to - 600_000, to }),
  );
  writeYear(database, {
    targets,
    nodes,
    days: 365 * years,
    sums: (_, __, { from, to }) => (to - from === dayMs ? day : hour),
    outages: () => outages,
  });
}

/** The time to the head of the answer, median and 99th percentile. */
async function firstBytes(url: string, loads: number): Promise<readonly string[]> {
  const times: number[] = [];
  for (let load = 0; load < loads; load += 1) {
    const begun = performance.now();
    const response = await fetch(url, { headers: { accept: 'text/html', 'accept-encoding': 'gzip' } });
    times.push(performance.now() - begun);
    await response.arrayBuffer();
  }
  const sorted = times.toSorted((a, b) => a - b);
  return [figure(percentile(sorted, 0.5)), figure(percentile(sorted, 0.99))];
}

const lastPaint = `new Promise((resolve) => {
  new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime))
    .observe({ type: 'largest-contentful-paint', buffered: true });
})`;

/** Each in a new profile: the largest paint, the elements before scrolling, and what came over the network. */
async function view(browser: Browser, url: string, path: string, views: number): Promise<readonly string[]> {
  const paints: number[] = [];
  let [elements, bytes] = [0, 0];
  for (let count = 0; count < views; count += 1) {
    const context = await browser.newContext({ ...devices.desktop, baseURL: url });
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    bytes = 0;
    session.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength));
    await session.send('Network.enable');
    await page.goto(path, { waitUntil: 'load' });
    await sleep(1_000);
    paints.push(Number(await page.evaluate(lastPaint)));
    elements = Number(await page.evaluate(`document.querySelectorAll('*').length`));
    await context.close();
  }
  const sorted = paints.toSorted((a, b) => a - b);
  return [
    figure(percentile(sorted, 0.5)),
    figure(sorted.at(-1) ?? Number.NaN),
    String(elements),
    (bytes / 1_000).toFixed(1),
  ];
}
