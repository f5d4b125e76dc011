import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { diskObstacle } from '../support/small-disk.ts';
import { machinesObstacle, worldWords } from '../support/machines.ts';
import { natsObstacle } from '../support/nats-server.ts';
import { playHubs } from './hubs.ts';
import { judge } from './judge.ts';
import { playJobs } from './jobs.ts';
import { type NodesDay, nodesDays, nodesObstacle, playNodes } from './nodes.ts';
import { type Day, days, play } from './play.ts';
import { playReloads } from './reloads.ts';
import { playUplink, uplinkObstacle } from './uplink.ts';

// Kills the real program at random moments while incidents open and close and the mail server comes and goes, and on other days: sets its
// clock back over restarts or ahead for a while, refuses its mails for good, fills its disk, takes its uplink away and gives it back in steps,
// reloads other settings, has jobs call or fail, kills hub, nats-server and nodes in turn, stops them as a paused machine does, takes NATS away, lets three machines
// with a hub, a nats-server and a node each fail, with their links and disks; and then counts what became of every transition:
// `npm run test:crash`, or `npm run test:crash -- --kills 100 --day clock`.

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
    day: { type: 'string' },
    /** This process has a network and mounts of its own. */
    'own-world': { type: 'boolean', default: false },
  },
});
const kills = Number(values.kills);
const seed = Number(values.seed);
const isWanted = (day: string) => values.day === undefined || values.day === day;
const print = (day: string, counts: Readonly<Record<string, number>>) =>
  console.log(
    `${day}: ${Object.entries(counts)
      .map(([what, count]) => `${what} ${count}`)
      .join(', ')}`,
  );
const isNodesDay = (day: string): day is NodesDay => day in nodesDays;
let faultCount = 0;

async function live(day: Day): Promise<void> {
  await using played = await play({ kills, seed, day, report: (line) => console.log(line) });
  const isClockRight = day !== 'clock' && day !== 'ahead';
  const evidence = { ...played, isHistoryJudged: isClockRight, isRefused: day === 'refusals' };
  const { counts, lateMs, faults: judged } = judge(evidence);
  const faults = [...judged, ...played.faults];
  const at = (share: number) => lateMs[Math.min(lateMs.length - 1, Math.floor(lateMs.length * share))] ?? 0;
  const late = !isClockRight ? {} : { 'late p50 ms': at(0.5), 'late p99 ms': at(0.99), 'late max ms': at(1) };
  print(day, { ...played.counts, ...counts, ...late });
  for (const fault of faults) console.error(`FAULT ${day}: ${fault}`);
  faultCount += faults.length;
}

if (!values['own-world']) console.log(`${kills} kills a day, seed ${seed}`);
for (const day of days.filter(isWanted)) {
  const obstacle = day === 'disk' ? diskObstacle() : null;
  if (obstacle === null) await live(day);
  else console.log(`${day}: not here: ${obstacle}`);
}
if (isWanted('uplink')) {
  const obstacle = uplinkObstacle();
  if (obstacle !== null) console.log(`uplink: not here: ${obstacle}`);
  else {
    const { counts, faults } = await playUplink();
    print('uplink', counts);
    for (const fault of faults) console.error(`FAULT uplink: ${fault}`);
    faultCount += faults.length;
  }
}
for (const [day, playDay] of Object.entries({ reloads: playReloads, jobs: playJobs })) {
  if (!isWanted(day)) continue;
  const { counts, faults } = await playDay({ kills, seed });
  print(day, counts);
  for (const fault of faults) console.error(`FAULT ${day}: ${fault}`);
  faultCount += faults.length;
}
for (const day of Object.keys(nodesDays).filter(isNodesDay).filter(isWanted)) {
  const obstacle = nodesObstacle();
  if (obstacle !== null) console.log(`${day}: not here: ${obstacle}`);
  else {
    const { counts, faults } = await playNodes({ kills, seed, day });
    print(day, counts);
    for (const fault of faults) console.error(`FAULT ${day}: ${fault}`);
    faultCount += faults.length;
  }
}
if (isWanted('hubs')) {
  const obstacle = natsObstacle() ?? machinesObstacle();
  if (obstacle !== null) console.log(`hubs: not here: ${obstacle}`);
  else if (!values['own-world']) {
    const [command, ...args] = [...worldWords, process.execPath, ...process.argv.slice(1, 2)];
    const same = ['--own-world', '--day', 'hubs', '--kills', values.kills, '--seed', values.seed];
    if (spawnSync(command, [...args, ...same], { stdio: 'inherit' }).status !== 0) faultCount += 1;
  } else {
    const { counts, faults } = await playHubs({ kills, seed, report: (line) => console.log(line) });
    print('hubs', counts);
    for (const fault of faults) console.error(`FAULT hubs: ${fault}`);
    faultCount += faults.length;
  }
}
const verdict =
  faultCount === 0 ? 'nothing lost, nothing false, nothing sent twice under two names' : `${faultCount} faults`;
// With a world of its own it is a part of the process that prints this.
if (!values['own-world']) console.log(verdict);
process.exitCode = faultCount === 0 ? 0 : 1;
