import { WatchpostError } from '#kernel/errors.ts';

interface Place {
  readonly startedAt: number;
  readonly id: string;
}

/** A place in a list of incidents as text that can stand in a URL. */
export function cursorOf({ startedAt, id }: Place): string {
  return Buffer.from(`${startedAt} ${id}`).toString('base64url');
}

/** Throws `usage` where the text is no such place. */
export function parseCursor(text: string): Place {
  const [, startedAt, id] = /^(\d{1,16}) (.+)$/.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  if (id === undefined) throw new WatchpostError('usage', `"${text}" is no place in a list: take "next" of an answer`);
  return { startedAt: Number(startedAt), id };
}
