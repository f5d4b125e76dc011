import { readFile } from 'node:fs/promises';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import type { Config } from '../config.ts';
import { loadConfig, type LoadOptions } from '../load.ts';
import { readSources, type SourceText } from '../read/source.ts';
import { type TargetEntry, withoutTarget, withTarget } from './target-lines.ts';
import { writeSource } from './write-source.ts';

export interface EditPlace extends Pick<LoadOptions, 'path' | 'env'> {
  /** The file to extend. Default: the last one of the configuration that has targets. */
  readonly file?: string | undefined;
}

/** A change of one file of a configuration, found good and not written yet. */
export interface ConfigEdit {
  readonly file: string;
  readonly before: string;
  readonly after: string;
  /** What the configuration will be. */
  readonly config: Config;
}

/** One more target. Rejects with `config_invalid` if the configuration would be wrong, with `usage` if it has to be changed by hand. */
export async function planAddition(place: EditPlace, entry: TargetEntry): Promise<ConfigEdit> {
  const source = await sourceToExtend(place);
  return planned(place, source, withTarget(source, entry));
}

/** The same for a target less. */
export async function planRemoval(place: EditPlace, name: string): Promise<ConfigEdit> {
  const { sources } = await readSources(place.path);
  for (const source of sources) {
    const text = withoutTarget(source, name);
    if (text !== null) return planned(place, source, text);
  }
  const { targets } = await loadConfig(place);
  const isListed = targets.some((target) => target.name === name);
  const reason = isListed ? 'comes from a list, and is removed there' : 'is no target of this configuration';
  throw new WatchpostError('usage', `${name} ${reason}`);
}

/** Writes it, unless the file was changed since. */
export async function writeEdit({ file, before, after }: Omit<ConfigEdit, 'config'>): Promise<void> {
  if ((await readFile(file, 'utf8')) !== before)
    throw new WatchpostError('usage', `${file} was changed meanwhile: nothing is written`);
  try {
    await writeSource(file, after);
  } catch (error) {
    throw new WatchpostError('usage', `${file} cannot be written: ${messageOf(error)}`, { cause: error });
  }
}

/** Changes the targets of a configuration for the program that runs with it. */
export interface TargetEditor {
  add(entry: TargetEntry): Promise<void>;
  remove(name: string): Promise<void>;
  /** Takes the last change back, unless the file was changed since. */
  undo(): Promise<void>;
}

export function createTargetEditor(place: EditPlace): TargetEditor {
  let last: ConfigEdit | null = null;
  async function make(edit: ConfigEdit): Promise<void> {
    await writeEdit(edit);
    last = edit;
  }
  return {
    add: async (entry) => make(await planAddition(place, entry)),
    remove: async (name) => make(await planRemoval(place, name)),
    async undo() {
      if (last === null) throw new WatchpostError('usage', 'there is no change to take back');
      const { file, before, after } = last;
      await writeEdit({ file, before: after, after: before });
      last = null;
    },
  };
}

async function planned({ path, env }: EditPlace, { file, text }: SourceText, after: string): Promise<ConfigEdit> {
  const config = await loadConfig({ path, env, instead: { file, text: after } });
  return { file, before: text, after, config };
}

async function sourceToExtend({ path, file }: EditPlace): Promise<SourceText> {
  const { sources } = await readSources(path);
  const named =
    file === undefined ? undefined : sources.find((source) => source.file === file || source.file.endsWith(`/${file}`));
  if (file !== undefined && named === undefined) {
    const names = sources.map((source) => source.file).join(', ');
    throw new WatchpostError('usage', `--file: ${file} is no file of this configuration, which has ${names}`);
  }
  const source = named ?? sources.findLast(({ text }) => /^targets:/m.test(text)) ?? sources.at(-1);
  if (source === undefined) throw new WatchpostError('config_invalid', `${path}: there is no file to change`);
  return source;
}
