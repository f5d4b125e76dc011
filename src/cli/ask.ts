import type { z } from 'zod';
import { loadConfig } from '#config/load.ts';
import { WatchpostError } from '#kernel/errors.ts';
import { askDaemon } from './ask-daemon.ts';
import { jsonText } from './json.ts';
import type { CommandContext } from './command-context.ts';

export interface DaemonOptions {
  readonly config: string;
  /** Print the answer of the daemon as it is. */
  readonly json?: boolean;
}

/** What the daemon answers, printed as it is where JSON is asked for. */
export async function ask<Answer>(
  { config: path, json }: DaemonOptions,
  context: CommandContext,
  shape: z.ZodType<Answer>,
  url: string,
  body?: Readonly<Record<string, unknown>>,
): Promise<Answer> {
  const answer = await askDaemon(await loadConfig({ path, env: context.env }), url, body);
  if (json === true) context.print(jsonText(answer));
  return shape.parse(answer);
}

/** A moment that stands in an option, as the daemon reads it. */
export function momentOf(option: string, text: string): string {
  const moment = Date.parse(text);
  if (!/^\d{4}-\d\d-\d\dT/.test(text) || Number.isNaN(moment)) {
    throw new WatchpostError(
      'usage',
      `${option}: "${text}" is not a time; expected one such as 2026-12-24T22:00 or 2026-12-24T22:00Z`,
    );
  }
  return new Date(moment).toISOString();
}
