import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { find, type SourceNode } from '#config/read/located.ts';
import { explainSystemError, filesLike } from '#config/read/source.ts';
import { foreignDuration } from '../convert.ts';
import type { Draft } from '../draft.ts';
import { placeAt } from '../source.ts';
import { type TargetLabels, relabel, RelabelConfig } from './relabel.ts';

const Text = z.union([z.string(), z.number(), z.boolean()]).transform(String);
const StaticConfig = z.looseObject({
  targets: z.array(Text).default([]),
  labels: z.record(z.string(), Text).default({}),
});
type StaticConfig = z.output<typeof StaticConfig>;

const Job = z.looseObject({
  job_name: Text,
  metrics_path: Text.default('/metrics'),
  params: z.record(z.string(), z.array(Text)).default({}),
  scrape_interval: Text.optional(),
  scrape_timeout: Text.optional(),
  static_configs: z.array(StaticConfig).default([]),
  file_sd_configs: z.array(z.looseObject({ files: z.array(Text).default([]) })).default([]),
  relabel_configs: z.array(RelabelConfig).default([]),
});

const Global = z.looseObject({ scrape_interval: Text.default('1m'), scrape_timeout: Text.default('10s') });

/** A target that Prometheus has probed, with the labels of its series. */
export interface ProbeTarget {
  readonly place: string;
  readonly module: string;
  readonly target: string;
  readonly everyMs: number;
  readonly limitMs: number;
  readonly labels: TargetLabels;
}

/** What the jobs of a Prometheus configuration probe. Jobs that probe nothing are none of ours. */
export async function probedBy(root: SourceNode, file: string, draft: Draft): Promise<readonly ProbeTarget[]> {
  const global = Global.catch({ scrape_interval: '1m', scrape_timeout: '10s' }).parse(
    find(root, ['global'])?.value ?? {},
  );
  const found: ProbeTarget[] = [];
  for (const [index, entry] of find(root, ['scrape_configs'])?.children ?? []) {
    const place = placeAt(root, ['scrape_configs', Number(index)]);
    const read = Job.safeParse(entry.value);
    if (!read.success) {
      draft.note('left out', place, `a job that cannot be read: ${read.error.issues[0]?.path.join('.')}`);
      continue;
    }
    const job = read.data;
    if (!isProbing(job)) continue;
    for (const key of Object.keys(job).filter((one) => one.endsWith('_sd_configs') && one !== 'file_sd_configs'))
      draft.note('lost', place, `job ${job.job_name}: targets by ${key}`);
    const groups = [...job.static_configs, ...(await groupsInFiles(job, file, place, draft))];
    const everyMs = foreignDuration(job.scrape_interval ?? global.scrape_interval) ?? 60_000;
    const limitMs = Math.min(foreignDuration(job.scrape_timeout ?? global.scrape_timeout) ?? 10_000, everyMs);
    for (const group of groups) {
      for (const target of group.targets) {
        const labels = labelled(job, target, group, place, draft);
        if (labels === null) continue;
        const pointed = labels.get('__param_target') ?? '';
        if (pointed === '')
          draft.note(
            'left out',
            place,
            `job ${job.job_name}: ${target}: no relabelling makes it the parameter "target"`,
          );
        else
          found.push({
            place,
            module: labels.get('__param_module') ?? 'http_2xx',
            target: pointed,
            everyMs,
            limitMs,
            labels,
          });
      }
    }
  }
  return found;
}

type Job = z.output<typeof Job>;

const isProbing = ({ metrics_path, params, relabel_configs }: Job) =>
  metrics_path.endsWith('/probe') ||
  'module' in params ||
  relabel_configs.some(({ target_label }) => target_label === '__param_target');

function labelled(
  job: Job,
  target: string,
  { labels }: StaticConfig,
  place: string,
  draft: Draft,
): TargetLabels | null {
  const first = new Map<string, string>([
    ...Object.entries(job.params).map(([name, [value = '']]) => [`__param_${name}`, value] as const),
    ['job', job.job_name],
    ['__address__', target],
    ['__metrics_path__', job.metrics_path],
    ['__scheme__', 'http'],
    ...Object.entries(labels),
  ]);
  try {
    const last = relabel(first, job.relabel_configs);
    if (last === null) return null;
    return last.has('instance') ? last : new Map([...last, ['instance', last.get('__address__') ?? target]]);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    draft.note('left out', place, `job ${job.job_name}: ${target}: a pattern of its relabelling cannot be read`);
    return null;
  }
}

async function groupsInFiles(job: Job, file: string, place: string, draft: Draft): Promise<readonly StaticConfig[]> {
  const groups: StaticConfig[] = [];
  for (const name of job.file_sd_configs.flatMap(({ files }) => files)) {
    for (const path of await filesLike(resolve(dirname(file), name))) {
      const read = z.array(StaticConfig).safeParse(await parsedFile(path, place, draft));
      if (read.success) groups.push(...read.data);
      else draft.note('left out', place, `job ${job.job_name}: ${path} holds no targets`);
    }
    draft.note('differs', place, `job ${job.job_name}: the targets in ${name} are copied as they are now`);
  }
  return groups;
}

async function parsedFile(path: string, place: string, draft: Draft): Promise<unknown> {
  try {
    return parse(await readFile(path, 'utf8'));
  } catch (error) {
    draft.note('left out', place, `${path}: ${explainSystemError(error)}`);
    return [];
  }
}
