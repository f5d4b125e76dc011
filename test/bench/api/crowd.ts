import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createNetworkNamespace, namespaceObstacle } from '../../support/network-namespace.ts';
import { limitCpu } from '../tools/cpu-limit.ts';
import { printTable } from '../tools/table.ts';

interface Figures {
  readonly asked: number;
  readonly withinSecond: number;
  readonly refused: number;
  readonly p50: number;
  readonly p99: number;
}

interface Crowd {
  readonly calm: Figures;
  readonly crowded: Figures;
  readonly byPath: readonly (Figures & { readonly path: string })[];
  readonly held: number;
  readonly checks: { readonly all: number; readonly onTime: number };
}

const child = fileURLToPath(new URL('crowd-child.ts', import.meta.url));
const addresses = 1_000;
const seconds = 20;

/**
 * Measures how clients are answered beside 1,000 addresses that want to shut the service for them, with a full core and with a quarter of
 * one; gives whether the aim was met.
 */
export async function measureCrowd(): Promise<boolean> {
  const obstacle = namespaceObstacle();
  if (obstacle !== null) {
    console.log(obstacle);
    return true;
  }
  let isMet = true;
  for (const share of [null, 0.25]) isMet = print(await measure(share), share) && isMet;
  return isMet;
}

async function measure(share: number | null): Promise<Crowd> {
  await using network = createNetworkNamespace();
  network.run(['ip', 'link', 'set', 'lo', 'up']);
  network.run(['ip', 'address', 'add', '198.18.0.0/15', 'dev', 'lo']);
  const { stdout, stdin } = network.start([process.execPath, child, String(addresses), String(seconds)]);
  if (stdout === null || stdin === null) throw new Error('the crowd has no input or output');
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  const told = async () => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error('the crowd ended before it told what it saw');
    return value;
  };
  const pid = Number(await told());
  // A namespace has no cgroups.
  using _limit = share === null ? null : limitCpu([pid], share);
  stdin.write('begin\n');
  return JSON.parse(await told()) as Crowd;
}

function print({ calm, crowded, byPath, held, checks }: Crowd, share: number | null): boolean {
  const row = (name: string, { asked, withinSecond, refused, p50, p99 }: Figures) => [
    name,
    String(asked),
    `${((withinSecond / asked) * 100).toFixed(1)} %`,
    String(refused),
    p50.toFixed(0),
    p99.toFixed(0),
  ];
  console.log(
    `${share === null ? '' : `${share} core: `}${addresses} addresses, 2 connections each: idle, half a head, a body without end, a stream, wrong logins; ${held} connections are held`,
  );
  printTable(
    ['other clients', 'asked', 'answered within 1 s', 'not answered', 'p50 ms', 'p99 ms'],
    [
      row('alone', calm),
      row('beside them', crowded),
      ...byPath.map((one) => row(`  ${one.path.replace(/\?.*/, '')}`, one)),
    ],
  );
  console.log(`checks meanwhile: ${checks.onTime} of ${checks.all} began within 50 ms; aim: 99 % of other clients\n`);
  return crowded.withinSecond >= 0.99 * crowded.asked;
}
