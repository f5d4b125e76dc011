import got from 'got';
import { z } from 'zod';
import { readListen } from '#config/apply/listen.ts';
import { messageOf } from '#kernel/errors.ts';
import { parseJson } from '#kernel/json.ts';
import { urlOfDaemon } from '../shared/ask-daemon.ts';
import { jsonText } from '../shared/json.ts';
import type { CommandContext } from '../shared/command-context.ts';

export interface HealthCommandOptions {
  readonly config: string;
  readonly ready?: boolean;
  readonly json?: boolean;
}

const answerMs = 4_000;
const Answer = z.looseObject({ message: z.string().optional() });

/**
 * Asks the daemon of this machine whether all its parts make progress, or with `ready` whether it takes requests. Exit code 0
 * if they do, 1 if not, or without an answer.
 */
export async function health(
  { config: path, ready, json }: HealthCommandOptions,
  context: CommandContext,
): Promise<number> {
  const url = `${urlOfDaemon(await readListen({ path, env: context.env }))}${ready === true ? '/readyz' : '/healthz'}`;
  try {
    const options = {
      timeout: { request: answerMs },
      retry: { limit: 0 },
      throwHttpErrors: false,
      signal: context.stop,
    };
    const { statusCode, body } = await got(url, { ...options, followRedirect: false });
    const answer = Answer.safeParse(parseJson(body));
    const well = statusCode === 200 && answer.success;
    if (json === true) context.print(jsonText({ well, url, answer: answer.data ?? null }));
    else if (well) context.print(`${ready === true ? 'ready' : 'healthy'}: ${url}\n`);
    else context.printError(`${url}: ${answer.data?.message ?? `status ${statusCode}, not from a Watchpost`}\n`);
    return well ? 0 : 1;
  } catch (error) {
    if (context.stop.aborted) throw context.stop.reason;
    if (json === true) context.print(jsonText({ well: false, url, answer: null }));
    context.printError(`${url}: ${messageOf(error)}\n`);
    return 1;
  }
}
