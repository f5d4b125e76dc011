import { webhookJsonSchema } from '#channels/index.ts';
import { loadConfig } from '#config/load.ts';
import { configJsonSchema } from '#config/schema.ts';
import { exposedAdvice } from '#kernel/private-files.ts';
import { summaryOf } from './plan.ts';
import type { World } from './world.ts';

export async function checkConfig(options: { readonly config: string }, world: World): Promise<number> {
  const config = await loadConfig({ path: options.config, env: world.env });
  for (const file of config.exposedFiles) world.printError(`warning: ${exposedAdvice(file)}\n`);
  world.print(`${options.config} is good: ${summaryOf(config)}\n`);
  return 0;
}

export function printSchema({ webhook }: { readonly webhook?: boolean }, world: World): number {
  const schema = webhook === true ? webhookJsonSchema() : configJsonSchema();
  world.print(`${JSON.stringify(schema, null, 2)}\n`);
  return 0;
}
