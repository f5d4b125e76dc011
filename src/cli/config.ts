import { webhookJsonSchema } from '#channels/index.ts';
import { loadConfig } from '#config/load.ts';
import { configJsonSchema } from '#config/schema.ts';
import { WatchpostError } from '#kernel/errors.ts';
import { exposedAdvice } from '#kernel/private-files.ts';
import { summaryOf } from './plan.ts';
import type { World } from './world.ts';

export async function checkConfig(
  options: { readonly config: string; readonly json?: boolean },
  world: World,
): Promise<number> {
  if (options.json === true) return reportConfig(options.config, world);
  const config = await loadConfig({ path: options.config, env: world.env });
  for (const file of config.exposedFiles) world.printError(`warning: ${exposedAdvice(file)}\n`);
  world.print(`${options.config} is good: ${summaryOf(config)}\n`);
  return 0;
}

async function reportConfig(path: string, world: World): Promise<number> {
  const print = (report: Readonly<Record<string, unknown>>) => world.print(`${JSON.stringify(report, null, 2)}\n`);
  try {
    const { targets, nodes, exposedFiles } = await loadConfig({ path, env: world.env });
    print({
      good: true,
      targets: targets.length,
      nodes: nodes.length,
      problems: [],
      warnings: exposedFiles.map(exposedAdvice),
    });
    return 0;
  } catch (error) {
    if (!(error instanceof WatchpostError)) throw error;
    print({ good: false, problems: error.message.split('\n') });
    return error.exitCode;
  }
}

export function printSchema({ webhook }: { readonly webhook?: boolean }, world: World): number {
  const schema = webhook === true ? webhookJsonSchema() : configJsonSchema();
  world.print(`${JSON.stringify(schema, null, 2)}\n`);
  return 0;
}
