import { channelTypes } from '#channels/index.ts';
import { openChannels } from '#compose/delivery.ts';
import { devicesInFile } from '#compose/devices.ts';
import type { Config } from '#config/config.ts';
import { loadConfig } from '#config/load.ts';
import { deadline, systemClock } from '#kernel/clock.ts';
import { WatchpostError } from '#kernel/errors.ts';
import { createLog } from '#kernel/log.ts';
import { sampleMessages } from '#monitor/notify/sample-messages.ts';
import { jsonText } from '../shared/json.ts';
import type { CommandContext } from '../shared/command-context.ts';

// A person waits for it: less time than a slow mail server gets otherwise.
const attemptMs = 5 * 60_000;

/**
 * Sends a sample of each kind of message to everybody behind a name under `notify`, or behind all of them, and prints what the
 * server answered; an alert that a receiver would keep open is ended. It needs no running daemon. Exit code 1 if something was not accepted.
 */
export async function testAlert(
  name: string | undefined,
  { config: path, kind, json }: { readonly config: string; readonly kind?: string; readonly json?: boolean },
  context: CommandContext,
): Promise<number> {
  const config = await loadConfig({ path, env: context.env });
  const chosen = chosenOf(config, name);
  if (kind !== undefined) checkKind(kind);
  const log = createLog({ level: 'warn', pretty: context.interactive, fd: 2 });
  const hasPush = (config.contacts['push'] ?? []).length > 0;
  const devices = hasPush ? devicesInFile(config.data, systemClock) : null;
  const channels = openChannels(config, () => config, { clock: systemClock, log, devices });
  const results: object[] = [];
  let failures = 0;
  try {
    for (const { name: notify, addresses, policy } of chosen) {
      for (const { channel: channelName, recipient } of addresses) {
        const channel = channels.find((one) => one.name === channelName);
        const samples = sampleMessages(policy.zone, systemClock.now(), recipient);
        const beginnings = new Map<string, string>();
        const sent = samples.filter((one) => kind === undefined || one.kind === kind);
        for (const message of [...sent, ...closing(channelName, sent, samples)]) {
          if (context.stop.aborted || channel === undefined) break;
          using limit = deadline(systemClock, attemptMs, context.stop);
          const receipt = await channel.send({ ...message, beginnings }, recipient, limit.signal);
          const answer =
            receipt.kind === 'delivered'
              ? `accepted: ${receipt.response}`
              : `${words[receipt.kind]}: ${receipt.reason}`;
          if (receipt.kind !== 'delivered') failures += 1;
          else if (message.kind === 'opened' && receipt.reference !== undefined)
            for (const { id } of message.incidents) beginnings.set(id, receipt.reference);
          results.push({
            notify,
            channel: channelName,
            recipient,
            kind: message.kind,
            accepted: receipt.kind === 'delivered',
            answer,
          });
          if (json !== true) context.print(`${notify}  ${channelName} ${recipient}  ${message.kind}  ${answer}\n`);
        }
      }
    }
  } finally {
    await Promise.all(channels.map(async (channel) => channel.close()));
  }
  if (json === true) context.print(jsonText(results));
  return failures > 0 || context.stop.aborted ? 1 : 0;
}

type Samples = ReturnType<typeof sampleMessages>;

/** What ends the alert that these samples leave open with a receiver that would keep it. */
function closing(channel: string, sent: Samples, samples: Samples): Samples {
  const isOpen = sent.at(-1)?.incidents.some(({ endedAt }) => endedAt === null) ?? false;
  const keepsAlerts = channelTypes.find(({ name }) => name === channel)?.keepsAlerts ?? false;
  return isOpen && keepsAlerts ? samples.filter(({ kind }) => kind === 'resolved') : [];
}

const words = { retry: 'not accepted (it would be tried again)', rejected: 'refused for good' } as const;

function checkKind(kind: string): void {
  const kinds: readonly string[] = sampleMessages('UTC', systemClock.now(), '').map((sample) => sample.kind);
  if (kinds.includes(kind)) return;
  throw new WatchpostError('usage', `--kind: there is no kind of message "${kind}"; there is ${kinds.join(', ')}`);
}

function chosenOf({ notify }: Config, name: string | undefined): Config['notify'] {
  const names = notify.map((one) => one.name).join(', ');
  if (notify.length === 0) throw new WatchpostError('usage', 'no recipients are configured under "notify"');
  const chosen = name === undefined ? notify : notify.filter((one) => one.name === name);
  if (chosen.length === 0) throw new WatchpostError('usage', `there is no "${name}" under notify; there is ${names}`);
  return chosen;
}
