import { z } from 'zod';
import { loadConfig } from '#config/load.ts';
import { WatchpostError } from '#kernel/errors.ts';
import { singleLine } from '#kernel/text.ts';
import { askDaemon } from '../shared/ask-daemon.ts';
import { jsonText } from '../shared/json.ts';
import type { CommandContext } from '../shared/command-context.ts';

const Listed = z.object({
  deliveries: z.array(
    z.object({
      id: z.number(),
      state: z.string(),
      kind: z.string(),
      target: z.string(),
      channel: z.string(),
      recipient: z.string(),
      attempts: z.number(),
      created_at: z.string(),
      next_attempt_at: z.string().nullable(),
      last_error: z.string().nullable(),
    }),
  ),
});
const Retried = z.object({ retried: z.number() });

export interface ListOptions {
  readonly config: string;
  readonly state?: string;
  readonly limit: string;
  readonly json?: boolean;
}

/** Prints deliveries of the running daemon: by default those that are dead or wait. */
export async function listDeliveries(
  { config: path, state, limit, json }: ListOptions,
  context: CommandContext,
): Promise<number> {
  const config = await loadConfig({ path, env: context.env });
  const states = state === undefined ? ['dead', 'pending'] : [state];
  const rows = [];
  for (const one of states) {
    const query = new URLSearchParams({ limit, ...(one === 'all' ? {} : { state: one }) });
    rows.push(...Listed.parse(await askDaemon(config, `/-/deliveries?${query.toString()}`)).deliveries);
  }
  if (json === true) context.print(jsonText(rows));
  else if (rows.length === 0) context.print('no deliveries\n');
  for (const row of json === true ? [] : rows) context.print(`${lineOf(row)}\n`);
  return 0;
}

/** Has the running daemon try deliveries again: those with these numbers, or all dead ones. */
export async function retryDeliveries(
  ids: readonly number[],
  { config: path, all, json }: { readonly config: string; readonly all?: boolean; readonly json?: boolean },
  context: CommandContext,
): Promise<number> {
  const config = await loadConfig({ path, env: context.env });
  if (ids.length > 0 === (all === true)) {
    throw new WatchpostError('usage', 'name deliveries by their numbers, or say --all for every dead one');
  }
  const body = all === true ? { all: true } : { ids };
  const { retried } = Retried.parse(await askDaemon(config, '/-/deliveries/retry', body));
  if (json === true) context.print(jsonText({ retried }));
  else context.print(`${retried} ${retried === 1 ? 'delivery is' : 'deliveries are'} tried again now\n`);
  return retried === 0 && ids.length > 0 ? 1 : 0;
}

function lineOf(row: z.output<typeof Listed>['deliveries'][number]): string {
  const { id, state, kind, target, channel, recipient, attempts, created_at: createdAt, last_error: error } = row;
  const when = row.next_attempt_at === null ? '' : `, next ${row.next_attempt_at}`;
  const tried = `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}${when}`;
  const head = `${id}  ${state}  ${kind} of ${target}  to ${channel} ${recipient}  since ${createdAt}  ${tried}`;
  return error === null ? head : `${head}\n    ${singleLine(error, 300)}`;
}
