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
  thread: z.string().nullable(),
  stage: z.string().nullable(),
});

interface NoteOptions {
  readonly page: string;
  readonly until?: string;
  readonly stage?: string;
  /** Separated by commas. */
  readonly targets?: string;
  readonly thread?: string;
}

/** Says something on a status page. */
export async function postNote(
  words: string,
  { page, until, stage, targets, thread, ...options }: DaemonOptions & NoteOptions,
  context: CommandContext,
): Promise<number> {
  const end = until === undefined ? {} : { until };
  const about = { ...(stage !== undefined && { stage }), ...(thread !== undefined && { thread }) };
  const body = { page, words, ...end, ...about, targets: targets?.split(',').map((name) => name.trim()) ?? [] };
  const { note } = await ask(options, context, z.object({ note: Note }), '/-/notes', body);
  const length = note.until === null ? 'until it is taken down' : `until ${note.until}`;
  if (options.json !== true) context.print(`${note.id}  stands on the page ${note.page} ${length}\n`);
  return 0;
}

export async function listNotes(options: DaemonOptions, context: CommandContext): Promise<number> {
  const { notes } = await ask(options, context, z.object({ notes: z.array(Note) }), '/-/notes');
  if (options.json === true) return 0;
  const rows = notes.map(({ id, page, words, at, until, thread, stage }) => [
    id,
    thread ?? '-',
    page,
    at,
    until ?? '-',
    stage ?? '-',
    singleLine(words, 80),
  ]);
  const table = alignRows([['id', 'thread', 'page', 'since', 'until', 'stage', 'note'], ...rows]);
  context.print(rows.length === 0 ? 'no notes\n' : table.map((row) => `${row}\n`).join(''));
  return 0;
}

export async function removeNote(id: string, options: DaemonOptions, context: CommandContext): Promise<number> {
  const url = `/-/notes/${encodeURIComponent(id)}/remove`;
  const { note } = await ask(options, context, z.object({ note: Note }), url, {});
  if (options.json !== true) context.print(`${note.id} is taken down from the page ${note.page}\n`);
  return 0;
}
