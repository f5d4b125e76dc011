// Text that strangers wrote ends up in logs, mails and metrics: controls and bidirectional overrides must not.
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

/** One line of at most `length` characters with nothing invisible in it. */
export function singleLine(text: string, length = 200): string {
  const line = text.replaceAll(unsafe, ' ').replaceAll(/\s+/g, ' ').trim();
  return line.length <= length ? line : `${line.slice(0, length - 1)}…`;
}
