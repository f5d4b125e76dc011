import { parseArgs } from 'node:util';
import { judge } from './judge.ts';
import { play } from './play.ts';

// Kills the real program at random moments while incidents open and close and the mail server comes and goes, and then counts
// what became of every transition: `npm run test:crash`, or `npm run test:crash -- --kills 100`.

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
  },
});
const kills = Number(values.kills);
const seed = Number(values.seed);
console.log(`killing the program ${kills} times, seed ${seed}`);

await using played = await play({ kills, seed, report: (line) => console.log(line) });
const { counts, faults } = judge(played.database, played.received);
console.log(
  Object.entries({ kills, ...played.counts, ...counts })
    .map(([what, count]) => `${what} ${count}`)
    .join(', '),
);
for (const fault of faults) console.error(`FAULT ${fault}`);
console.log(faults.length === 0 ? 'nothing lost, nothing told twice under two names' : `${faults.length} faults`);
process.exitCode = faults.length === 0 && kills === played.counts.killed ? 0 : 1;
