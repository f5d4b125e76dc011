import { webhookJsonSchema } from '#channels/index.ts';
import { stringify } from 'yaml';
import type { Config } from '#config/config.ts';
import { incapableNodeWarnings } from '#config/check/incapable.ts';
import { loadConfig, loadWhole } from '#config/load.ts';
import { askEachTime } from '#config/lists/listed-targets.ts';
import { spelledConfig } from '#config/print.ts';
import { matchlessWarnings, unnotifiedSeverityWarnings } from '#config/check/unheard.ts';
import { configJsonSchema } from '#config/shape/schema.ts';
import { WatchpostError } from '#kernel/errors.ts';
import { systemClock } from '#kernel/clock.ts';
import { exposedAdvice } from '#kernel/private-files.ts';
import { jsonText } from '../shared/json.ts';
import { summaryOf } from './plan-words.ts';
import { listLines } from '../shared/list-lines.ts';
import type { CommandContext } from '../shared/command-context.ts';

export async function checkConfig(
  options: { readonly config: string; readonly json?: boolean },
  context: CommandContext,
): Promise<number> {
  if (options.json === true) return reportConfig(options.config, context);
  const config = await loadConfig({ path: options.config, env: context.env, readList: askEachTime(systemClock) });
  for (const line of listLines(config)) context.printError(`${line}\n`);
  for (const warning of await warningsOf(config)) context.printError(`warning: ${warning}\n`);
  context.print(`${options.config} is good: ${summaryOf({ ...config, service: config.foreignService })}\n`);
  return 0;
}

/** What the configuration may have and should not. */
async function warningsOf({ exposedFiles, targets, nodes, watched }: Config): Promise<readonly string[]> {
  return [
    ...exposedFiles.map(exposedAdvice),
    ...unnotifiedSeverityWarnings(targets),
    ...incapableNodeWarnings(targets, nodes),
    ...(await matchlessWarnings(watched)),
  ];
}

async function reportConfig(path: string, context: CommandContext): Promise<number> {
  const print = (report: Readonly<Record<string, unknown>>) => context.print(jsonText(report));
  try {
    const config = await loadConfig({ path, env: context.env, readList: askEachTime(systemClock) });
    const { targets, nodes, lists } = config;
    print({
      good: true,
      targets: targets.length,
      nodes: nodes.length,
      lists: lists.map(({ name, shown, ...said }) => ({ name, url: shown, ...said })),
      problems: [],
      warnings: await warningsOf(config),
    });
    return 0;
  } catch (error) {
    if (!(error instanceof WatchpostError)) throw error;
    print({ good: false, problems: error.message.split('\n') });
    return error.exitCode;
  }
}

/** Prints the whole configuration with its defaults. What is secret is masked. */
export async function printConfig(
  { config: path, json }: { readonly config: string; readonly json?: boolean },
  context: CommandContext,
): Promise<number> {
  const read = { path, env: context.env, readList: askEachTime(systemClock) };
  const spelled = spelledConfig((await loadWhole(read)).whole);
  context.print(json === true ? jsonText(spelled) : stringify(spelled, { lineWidth: 0, aliasDuplicateObjects: false }));
  return 0;
}

export function printSchema({ webhook }: { readonly webhook?: boolean }, context: CommandContext): number {
  const schema = webhook === true ? webhookJsonSchema() : configJsonSchema();
  context.print(jsonText(schema));
  return 0;
}
