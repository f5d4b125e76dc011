import type { Config } from '#config/config.ts';
import { loadConfig } from '#config/load.ts';
import { askHubs, askToYield } from '#hubs/peers.ts';
import { remarksOf } from '#hubs/remarks.ts';
import { systemClock } from '#kernel/clock.ts';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import { describeDuration } from '#kernel/units.ts';
import { connectionTimes, dial } from '#transport/nats/connection.ts';
import { hubAccount } from '#transport/nats/keys.ts';
import type { CommandContext } from '../shared/command-context.ts';
import { jsonText } from '../shared/json.ts';
import { alignRows } from '../shared/table.ts';

export interface HubsOptions {
  readonly config: string;
  readonly json?: boolean;
}

/** Shows the hubs that share one history: 1 if none leads, or some differ. */
export async function listHubs(options: HubsOptions, context: CommandContext): Promise<number> {
  const hubs = await overNats(options, context, askHubs);
  const leader = hubs.find(({ role }) => role === 'leader');
  const remarks = hubs.map((hub) => remarksOf(hub, leader));
  const isSound = leader !== undefined && remarks.every((all) => all.length === 0);
  if (options.json === true) {
    context.print(jsonText(hubs.map((hub, index) => ({ ...hub, remarks: remarks[index] }))));
    return isSound ? 0 : 1;
  }
  if (hubs.length === 0) {
    context.printError('no hub answers\n');
    return 1;
  }
  const rows = hubs.map(({ name, role, since, applied, version }, index) => [
    name,
    role,
    describeDuration(Math.max(0, systemClock.now() - since)),
    String(applied.n),
    version,
    remarks[index]?.join('; ') ?? '',
  ]);
  for (const line of alignRows([['hub', 'role', 'for', 'applied', 'version', 'remarks'], ...rows]))
    context.print(`${line}\n`);
  return isSound ? 0 : 1;
}

/** Has the hub that leads hand over to another one. */
export async function yieldLead(options: HubsOptions, context: CommandContext): Promise<number> {
  return overNats(options, context, async (connection) => {
    const hubs = await askHubs(connection);
    const leader = hubs.find(({ role }) => role === 'leader');
    if (leader === undefined) throw new WatchpostError('daemon_unreachable', 'no hub leads');
    if (hubs.length === 1)
      throw new WatchpostError('usage', `hub ${leader.name} is the only one: there is no hub to hand over to`);
    await askToYield(connection, leader.name);
    const words = `hub ${leader.name} has handed over`;
    context.print(options.json === true ? jsonText({ yielded: leader.name }) : `${words}\n`);
    return 0;
  });
}

type HubConnection = Parameters<typeof askHubs>[0];

async function overNats<Result>(
  { config: path }: HubsOptions,
  context: CommandContext,
  act: (connection: HubConnection) => Promise<Result>,
): Promise<Result> {
  const { nats, hubs }: Config = await loadConfig({ path, env: context.env, mayNodesCome: true });
  if (nats === null || hubs === null)
    throw new WatchpostError('config_invalid', `${path}: there is no hubs section; this is the only hub`);
  const account = { ...(await hubAccount(nats)), name: 'watchpost hubs' };
  let connection: HubConnection;
  try {
    connection = await dial(account, connectionTimes);
  } catch (error) {
    throw new WatchpostError('daemon_unreachable', `NATS cannot be reached: ${messageOf(error)}`, { cause: error });
  }
  try {
    return await act(connection);
  } finally {
    await connection.close();
  }
}
