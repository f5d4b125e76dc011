import { WatchpostError } from '#kernel/errors.ts';

interface CursorPosition {
  readonly startedAt: number;
  readonly id: string;
}

/** A place in a list of incidents as text that can stand in a URL. */
export function cursorOf({ startedAt, id }: CursorPosition): string {
  return Buffer.from(`${startedAt} ${id}`).toString('base64url');
}

/** Throws `usage` if the text is no such place. */
export function parseCursor(text: string): CursorPosition {
  const [, startedAt, id] = /^(\d{1,16}) (.+)$/.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  if (id === undefined)
    throw new WatchpostError('usage', `invalid cursor "${text}": use "next" from a previous response`);
  return { startedAt: Number(startedAt), id };
}
