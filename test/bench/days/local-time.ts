import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LocalTime } from './systems/system.ts';

/** Compiles a time zone whose summer time begins or ends at this time (to the second), as `TZ=:FILE` takes it (tzset(3)). */
export function createLocalTime(folder: string, change: LocalTime['change'], changeAt: number): LocalTime {
  const until = new Date(changeAt).toISOString();
  const [, year = '', month = '', day = '', time = ''] = /^(\d+)-(\d+)-(\d+)T([\d:]+)/.exec(until) ?? [];
  const [winter, summer] = ['1:00 0:00 WIN', '1:00 1:00 SUM'];
  const [before, after] = change === 'begins' ? [winter, summer] : [summer, winter];
  const source = join(folder, 'zone.txt');
  const monthName = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')[Number(month) - 1] ?? '';
  writeFileSync(source, `Zone Days ${before} ${year} ${monthName} ${Number(day)} ${time}u\n          ${after}\n`);
  execFileSync('/usr/sbin/zic', ['-d', folder, source]);
  return { file: join(folder, 'Days'), changeAt: Math.floor(changeAt / 1_000) * 1_000, change };
}
