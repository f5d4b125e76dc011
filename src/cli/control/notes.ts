import { z } from 'zod';
import { singleLine } from '#kernel/text.ts';
import { ask, type DaemonOptions } from '../shared/ask.ts';
import { alignRows } from '../shared/table.ts';
import type { CommandContext } from '../shared/command-context.ts';

const Note = z.object({
  id: z.string(),
  page: z.string(),
  words: z.string(),
  at: z.string(),
  until: z.string().nullable(),
});

/** Says something on a status page. */
export async function postNote(
  words: string,
  { page, until, ...options }: DaemonOptions & { readonly page: string; readonly until?: string },
  context: CommandContext,
): Promise<number> {
  const end = until === undefined ? {} : { until };
  const { note } = await ask(options, context, z.object({ note: Note }), '/-/notes', { page, words, ...end });
  const length = note.until === null ? 'until it is taken down' : `until ${note.until}`;
  if (options.json !== true) context.print(`${note.id}  stands on the page ${note.page} ${length}\n`);
  return 0;
}

export async function listNotes(options: DaemonOptions, context: CommandContext): Promise<number> {
  const { notes } = await ask(options, context, z.object({ notes: z.array(Note) }), '/-/notes');
  if (options.json === true) return 0;
  const rows = notes.map(({ id, page, words, at, until }) => [id, page, at, until ?? '-', singleLine(words, 80)]);
  const table = alignRows([['id', 'page', 'since', 'until', 'note'], ...rows]);
  context.print(rows.length === 0 ? 'no notes\n' : table.map((row) => `${row}\n`).join(''));
  return 0;
}

export async function removeNote(id: string, options: DaemonOptions, context: CommandContext): Promise<number> {
  const url = `/-/notes/${encodeURIComponent(id)}/remove`;
  const { note } = await ask(options, context, z.object({ note: Note }), url, {});
  if (options.json !== true) context.print(`${note.id} is taken down from the page ${note.page}\n`);
  return 0;
}
