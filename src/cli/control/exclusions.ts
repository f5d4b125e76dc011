import { z } from 'zod';
import { loadConfig } from '#config/load.ts';
import { systemClock } from '#kernel/clock.ts';
import { singleLine } from '#kernel/text.ts';
import { formatTime } from '#kernel/zoned-time.ts';
import { ask, type DaemonOptions } from '../shared/ask.ts';
import type { CommandContext } from '../shared/command-context.ts';
import { alignRows } from '../shared/table.ts';
import { timeRangeOf } from '../shared/time-range.ts';

const Exclusion = z.object({
  id: z.string(),
  target: z.string().nullable(),
  from: z.string(),
  to: z.string(),
  why: z.string(),
});

type ZonedOptions = DaemonOptions & { readonly timezone?: string };

/** Has past time not count for the uptime of a target. */
export async function addExclusion(
  target: string,
  span: string,
  why: string,
  { timezone, ...options }: ZonedOptions,
  context: CommandContext,
): Promise<number> {
  const zone = timezone ?? (await zoneOf(options, context));
  const { from, to } = timeRangeOf(span, zone, systemClock.now());
  const body = { target: target === 'all' ? null : target, from: isoOf(from), to: isoOf(to), why };
  const { exclusion } = await ask(options, context, z.object({ exclusion: Exclusion }), '/-/exclusions', body);
  if (options.json !== true)
    context.print(`${exclusion.id}  ${described(exclusion, zone)} does not count for uptime\n`);
  return 0;
}

export async function listExclusions({ timezone, ...options }: ZonedOptions, context: CommandContext): Promise<number> {
  const { exclusions } = await ask(options, context, z.object({ exclusions: z.array(Exclusion) }), '/-/exclusions');
  if (options.json === true) return 0;
  const zone = timezone ?? (await zoneOf(options, context));
  const rows = exclusions.map(({ id, target, from, to, why }) => [
    id,
    target ?? 'all targets',
    shown(from, zone),
    shown(to, zone),
    singleLine(why, 80),
  ]);
  const table = alignRows([['id', 'target', 'from', 'to', 'reason'], ...rows]);
  context.print(rows.length === 0 ? 'no exclusions\n' : table.map((row) => `${row}\n`).join(''));
  return 0;
}

export async function removeExclusion(id: string, options: DaemonOptions, context: CommandContext): Promise<number> {
  const url = `/-/exclusions/${encodeURIComponent(id)}/remove`;
  const { exclusion } = await ask(options, context, z.object({ exclusion: Exclusion }), url, {});
  if (options.json !== true)
    context.print(`${exclusion.id} is removed: ${described(exclusion, await zoneOf(options, context))} counts again\n`);
  return 0;
}

async function zoneOf({ config }: DaemonOptions, { env }: CommandContext): Promise<string> {
  return (await loadConfig({ path: config, env })).timezone;
}

const isoOf = (at: number) => new Date(at).toISOString();
const shown = (time: string, zone: string) => formatTime(Date.parse(time), zone);

function described({ target, from, to }: z.output<typeof Exclusion>, zone: string): string {
  return `${target ?? 'all targets'} from ${shown(from, zone)} to ${shown(to, zone)}`;
}
