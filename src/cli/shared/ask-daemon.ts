import type { HTTPError } from 'got';
import { z } from 'zod';
import type { Config } from '#config/config.ts';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import { parseJson } from '#kernel/json.ts';
import { urlOfDaemon } from './daemon-url.ts';

const answerMs = 15_000;

/**
 * A request to the daemon that runs with this configuration on this machine. Throws `daemon_unreachable`, or `usage` with its
 * own words if it refuses.
 */
export async function askDaemon(
  { http }: Pick<Config, 'http'>,
  path: string,
  body?: Readonly<Record<string, unknown>>,
  waitMs = answerMs,
): Promise<unknown> {
  const url = `${urlOfDaemon(http)}${path}`;
  // Not at the top: the daemon itself only asks where it listens.
  const { default: got, HTTPError } = await import('got');
  const common = { timeout: { request: waitMs }, retry: { limit: 0 }, followRedirect: false };
  try {
    return await got(url, body === undefined ? common : { ...common, method: 'POST', json: body }).json<unknown>();
  } catch (error) {
    if (error instanceof HTTPError) throw refused(error);
    const remedy = 'is "watchpost run" running on this machine with the same configuration?';
    throw new WatchpostError('daemon_unreachable', `${url}: ${messageOf(error)}; ${remedy}`, { cause: error });
  }
}

const Refusal = z.object({ message: z.string(), problems: z.array(z.string()).default([]) });

function refused(error: HTTPError): WatchpostError {
  const body = Refusal.safeParse(parseJson(Buffer.from(error.response.rawBody).toString()));
  const words = body.success ? [body.data.message, ...body.data.problems].join('\n') : messageOf(error);
  return new WatchpostError('usage', words, { cause: error });
}
