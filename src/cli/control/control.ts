import type { Command, Option } from 'commander';
import { z } from 'zod';
import { singleLine } from '#kernel/text.ts';
import { gatherEvidence } from './evidence.ts';
import { ask, type DaemonOptions } from '../shared/ask.ts';
import { durationText, momentText } from '../shared/option-values.ts';
import { paintOf } from '../shared/paint.ts';
import { alignRows } from '../shared/table.ts';
import type { CommandContext } from '../shared/command-context.ts';

const Silence = z.object({
  id: z.string(),
  targets: z.union([z.literal('all'), z.array(z.string())]),
  why: z.string(),
  from: z.string(),
  until: z.string(),
});
const Silenced = z.object({ silence: Silence });
const Listed = z.object({ silences: z.array(Silence) });
const Names = z.array(z.string());
const Reloaded = z.object({ added: Names, changed: Names, removed: Names, needsRestart: Names });
const Incident = z.object({
  id: z.string(),
  severity: z.string(),
  cause: z.string(),
  held: z.string().nullable(),
  acknowledged: z.string().nullable(),
});
const Told = z.object({
  kind: z.string(),
  channel: z.string(),
  recipient: z.string(),
  state: z.string(),
  at: z.string().nullable(),
  last_error: z.string().nullable(),
});
const Acknowledged = z.object({ incident: Incident });
const Open = z.object({ incidents: z.array(Incident.extend({ deliveries: z.array(Told).default([]) })) });

/** Commands that tell the running daemon something: silences, acknowledgements, reload. */
export function addControlCommands(
  program: Command,
  configOption: Option,
  context: CommandContext,
  finish: (code: number) => void,
): void {
  const silence = program.command('silence').description('suppress notifications of new incidents for a time');
  silence
    .command('add')
    .description('start a silence; checks go on, and incidents that are open at its end are notified then')
    .argument('<target...>', 'names of targets, or all')
    .requiredOption('--for <duration>', 'for how long, such as 2h', durationText)
    .option(
      '--from <time>',
      'when it begins: 2026-12-24T22:00, with Z or an offset for another zone than this machine; default: now',
      momentText,
    )
    .requiredOption('--why <words>', 'the reason, shown in lists and on pages')
    .addOption(configOption)
    .option('--json', 'print JSON')
    .action(async (targets, options) => finish(await addSilence(targets, options, context)));
  silence
    .command('list')
    .description('list active and planned silences')
    .addOption(configOption)
    .option('--json', 'print JSON')
    .action(async (options) => finish(await listSilences(options, context)));
  silence
    .command('expire')
    .description('end a silence now')
    .argument('<id>', 'as the list shows it')
    .addOption(configOption)
    .option('--json', 'print JSON')
    .action(async (id, options) => finish(await expireSilence(id, options, context)));
  program
    .command('incidents')
    .description('list the incidents that are open')
    .addOption(configOption)
    .option('--json', 'print JSON')
    .action(async (options) => finish(await listIncidents(options, context)));
  program
    .command('ack')
    .description('acknowledge an incident: no more notifications until it is resolved')
    .argument('<incident>', 'the incident, from the last line of a mail')
    .requiredOption('--why <words>', 'what is known or done')
    .addOption(configOption)
    .option('--json', 'print JSON')
    .action(async (id, options) => finish(await acknowledge(id, options, context)));
  program
    .command('evidence')
    .description('have nodes gather evidence about a target now')
    .argument('<target>', 'its name')
    .addOption(configOption)
    .option('--json', 'print JSON')
    .action(async (target, options) => finish(await gatherEvidence(target, options, context)));
  program
    .command('reload')
    .description('reload the configuration of the running daemon')
    .addOption(configOption)
    .option('--json', 'print JSON')
    .action(async (options) => finish(await reload(options, context)));
}

async function addSilence(
  targets: readonly string[],
  {
    for: duration,
    why,
    from,
    ...options
  }: DaemonOptions & Readonly<Record<'for' | 'why', string>> & { readonly from?: string },
  context: CommandContext,
): Promise<number> {
  const begin = from === undefined ? {} : { from };
  const body = { targets: targets.includes('all') ? 'all' : targets, for: duration, why, ...begin };
  const { silence } = await ask(options, context, Silenced, '/-/silences', body);
  if (options.json !== true)
    context.print(`${silence.id}  ${namesOf(silence)} from ${silence.from} until ${silence.until}\n`);
  return 0;
}

async function listSilences(path: DaemonOptions, context: CommandContext): Promise<number> {
  const { silences } = await ask(path, context, Listed, '/-/silences');
  if (path.json === true) return 0;
  const rows = silences.map((one) => [one.id, namesOf(one), one.from, one.until, singleLine(one.why)]);
  context.print(
    rows.length === 0 ? 'no silences\n' : lines(alignRows([['id', 'targets', 'from', 'until', 'why'], ...rows])),
  );
  return 0;
}

async function expireSilence(id: string, path: DaemonOptions, context: CommandContext): Promise<number> {
  const url = `/-/silences/${encodeURIComponent(id)}/expire`;
  const { silence } = await ask(path, context, Silenced, url, {});
  if (path.json !== true)
    context.print(`${silence.id} has ended: failures of ${namesOf(silence)} are notified again\n`);
  return 0;
}

async function listIncidents(path: DaemonOptions, context: CommandContext): Promise<number> {
  const { incidents } = await ask(path, context, Open, '/-/incidents');
  if (path.json === true) return 0;
  const paint = paintOf(context);
  const rows = incidents.map(({ id, severity, cause, held, acknowledged, deliveries }) => {
    const state = acknowledged === null ? (held ?? notificationStateOf(deliveries)) : `acknowledged: ${acknowledged}`;
    return [paint(severity, id), singleLine(state, 60), singleLine(cause, 80)];
  });
  context.print(
    rows.length === 0 ? 'no open incidents\n' : lines(alignRows([['incident', 'state', 'cause'], ...rows])),
  );
  const news = incidents.flatMap(({ id, deliveries }) =>
    deliveries.map(({ kind, channel, recipient, state, at, last_error: error }) => [
      id,
      kind,
      `${recipient} (${channel})`,
      paint(state),
      at ?? '-',
      singleLine(error ?? '', 80),
    ]),
  );
  const head = ['incident', 'news', 'to', 'state', 'at', 'last error'];
  if (news.length > 0) context.print(`\n${lines(alignRows([head, ...news]))}`);
  return 0;
}

/** Whether the recipients of an incident were notified. */
export function notificationStateOf(deliveries: readonly Pick<z.output<typeof Told>, 'state'>[]): string {
  const isAny = (...states: readonly string[]) => deliveries.some(({ state }) => states.includes(state));
  if (deliveries.length === 0) return 'no recipients';
  if (isAny('sent', 'merged')) return 'notified';
  return isAny('pending') ? 'pending' : 'failed';
}

async function acknowledge(
  incident: string,
  { why, ...path }: DaemonOptions & { readonly why: string },
  context: CommandContext,
): Promise<number> {
  const done = await ask(path, context, Acknowledged, '/-/incidents/acknowledge', { incident, why });
  if (path.json !== true)
    context.print(`${done.incident.id} is acknowledged: no more notifications until it is resolved\n`);
  return 0;
}

async function reload(path: DaemonOptions, context: CommandContext): Promise<number> {
  const { added, changed, removed, needsRestart } = await ask(path, context, Reloaded, '/-/reload', {});
  if (path.json === true) return 0;
  context.print(`reloaded: ${added.length} added, ${changed.length} changed, ${removed.length} removed\n`);
  if (needsRestart.length > 0) context.print(`takes effect after a restart only: ${needsRestart.join(', ')}\n`);
  return 0;
}

function namesOf({ targets }: z.output<typeof Silence>): string {
  return targets === 'all' ? 'all targets' : targets.join(', ');
}

function lines(rows: readonly string[]): string {
  return rows.map((row) => `${row}\n`).join('');
}
