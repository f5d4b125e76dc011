import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { plainListen } from '#config/read/plain-listen.ts';
import { readSources } from '#config/read/source.ts';
import { messageOf } from '#kernel/errors.ts';
import { isRecord, parseJson } from '#kernel/json.ts';
import { urlOfDaemon } from '../shared/daemon-url.ts';
import { jsonText } from '../shared/json.ts';
import type { CommandContext } from '../shared/command-context.ts';

export interface HealthCommandOptions {
  readonly config: string;
  readonly ready?: boolean;
  readonly json?: boolean;
}

const answerMs = 4_000;

/**
 * Asks the daemon of this machine whether all its parts make progress, or with `ready` whether it takes requests. Exit code 0
 * if they do, 1 if not, or without an answer.
 */
export async function health(
  { config: path, ready, json }: HealthCommandOptions,
  context: CommandContext,
): Promise<number> {
  const url = `${urlOfDaemon(await listenIn(path, context))}${ready === true ? '/readyz' : '/healthz'}`;
  try {
    const { status, body } = await ask(url, context.stop);
    const answer = answerIn(body);
    const well = status === 200 && answer !== null;
    if (json === true) context.print(jsonText({ well, url, answer }));
    else if (well) context.print(`${ready === true ? 'ready' : 'healthy'}: ${url}\n`);
    else context.printError(`${url}: ${answer?.message ?? `status ${status}, not from a Watchpost`}\n`);
    return well ? 0 : 1;
  } catch (error) {
    if (context.stop.aborted) throw context.stop.reason;
    if (json === true) context.print(jsonText({ well: false, url, answer: null }));
    context.printError(`${url}: ${messageOf(error)}\n`);
    return 1;
  }
}

// Schemas and a reader of YAML, which a file of many targets keeps busy for a second, are loaded only if it takes them.
async function listenIn(path: string, { env }: Pick<CommandContext, 'env'>) {
  const { sources } = await readSources(path);
  const plain = plainListen(sources.map(({ text }) => text));
  if (plain !== null) return plain;
  const { readListen } = await import('#config/apply/listen.ts');
  return readListen({ path, env });
}

/** What the daemon answers; `message` says what is wrong. */
interface HealthAnswer {
  readonly message?: string;
}

function answerIn(body: string): HealthAnswer | null {
  const answer = parseJson(body);
  if (!isRecord(answer)) return null;
  const { message } = answer;
  return message === undefined ? answer : typeof message === 'string' ? { ...answer, message } : null;
}

async function ask(url: string, stop: AbortSignal): Promise<{ readonly status: number; readonly body: string }> {
  const limit = AbortSignal.timeout(answerMs);
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get(url, { agent: false, signal: AbortSignal.any([stop, limit]) }, resolve).on('error', reject);
    });
    return { status: response.statusCode ?? 0, body: await text(response) };
  } catch (error) {
    if (limit.aborted) throw new Error(`no answer within ${answerMs / 1_000} s`, { cause: error });
    throw error;
  }
}
