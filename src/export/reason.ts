import { messageOf } from '#kernel/errors.ts';
import type { Secret } from '#kernel/secret.ts';
import { singleLine } from '#kernel/text.ts';

/** Why an attempt failed, in words: that it took too long if that is so. */
export function reasonOf(error: unknown, { aborted, reason }: AbortSignal): string {
  return messageOf(aborted ? reason : error);
}

const shortest = 8;

/** A text without secrets, in case the other side or an error repeats them. */
export function withoutSecrets(text: string, secrets: readonly Secret[]): string {
  const hidden = secrets.map((secret) => secret.reveal()).filter(({ length }) => length >= shortest);
  return singleLine(hidden.reduce((shown, secret) => shown.replaceAll(secret, '[secret]'), text));
}
