import { z } from 'zod';
import { readJson } from '#kernel/json.ts';
import { escapeRegex } from '../convert.ts';
import { isMap, type PlainMap, type PlainValue } from '../draft.ts';
import { bare, type EndpointConversion, textWanted } from './conversion.ts';

const Command = z.object({ command: z.string().min(1) });

/** The banner, the key exchange, or a login by key with a command (Gatus, README, "Monitoring an endpoint using SSH"). */
export function ssh(making: EndpointConversion): PlainMap {
  const { endpoint, timeout, say } = making;
  const { username = '', 'private-key': key = '', passphrase = '' } = endpoint.ssh ?? {};
  const signsIn = username !== '' || key !== '';
  const made = bare(endpoint, signsIn ? 'ssh' : 'tcp', timeout);
  const host = /:\d+$/.test(made.host) ? made.host : `${made.host}:22`;
  // Without credentials Gatus reads the banner alone.
  if (!signsIn) return { ...made, host, expect: { regex: '^SSH-' } };
  if (key === '' || passphrase !== '') {
    const instead = 'ssh logs in by a key without a passphrase; until then the key exchange is all that is checked';
    say('lost', 'ssh', `signing in and running a command: ${instead}`);
    return { ...made, host };
  }
  const command = readJson(Command, endpoint.body)?.command;
  return { ...made, host, username, key, command, expect: command === undefined ? undefined : expected(making) };
}

function expected(making: EndpointConversion): PlainValue | undefined {
  const { endpoint, say } = making;
  const [exit] = endpoint.conditions.flatMap((one) => /^\s*\[STATUS\]\s*==\s*(\d{1,3})\s*$/.exec(one)?.[1] ?? []);
  if (exit === undefined) say('differs', 'conditions', 'the command has to end with 0');
  const text = textWanted(making);
  const regex = typeof text === 'string' ? escapeRegex(text) : isMap(text) ? text['regex'] : undefined;
  const wanted = { exit: exit === undefined || exit === '0' ? undefined : Number(exit), regex };
  return wanted.exit === undefined && regex === undefined ? undefined : wanted;
}
