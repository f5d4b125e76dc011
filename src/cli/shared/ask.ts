import type { z } from 'zod';
import { loadConfig } from '#config/load.ts';
import { askDaemon } from './ask-daemon.ts';
import { jsonText } from './json.ts';
import type { CommandContext } from './command-context.ts';

export interface DaemonOptions {
  readonly config: string;
  /** Print the answer of the daemon as it is. */
  readonly json?: boolean;
}

interface AskOptions extends DaemonOptions {
  /** How long the answer may take, in milliseconds. Default: 15 seconds. */
  readonly waitMs?: number;
}

/** What the daemon answers, printed as it is where JSON is asked for. */
export async function ask<Answer>(
  { config: path, json, waitMs }: AskOptions,
  context: CommandContext,
  shape: z.ZodType<Answer>,
  url: string,
  body?: Readonly<Record<string, unknown>>,
): Promise<Answer> {
  const answer = await askDaemon(await loadConfig({ path, env: context.env }), url, body, waitMs);
  if (json === true) context.print(jsonText(answer));
  return shape.parse(answer);
}
