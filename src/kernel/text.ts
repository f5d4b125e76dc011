// Text that strangers wrote ends up in logs, mails and metrics: controls and bidirectional overrides must not.
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

// Most texts are words in ASCII with single spaces between them, and good as they are.
const plain = /^(?:[!-~]+(?: [!-~]+)*)?$/;

const splitPair = /[\uD800-\uDBFF]$/;

/** A number of things: "1 node", "2 nodes". */
export function countOf(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** One line of at most `length` UTF-16 units, well-formed, with nothing invisible in it. */
export function singleLine(text: string, length = 200): string {
  if (text.length <= length && plain.test(text)) return text;
  const line = text.toWellFormed().replaceAll(unsafe, ' ').replaceAll(/\s+/g, ' ').trim();
  return line.length <= length ? line : `${line.slice(0, length - 1).replace(splitPair, '')}…`;
}

/** A text as one word of a POSIX shell: in single quotes if it has signs that mean something there. */
export function shellWord(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
