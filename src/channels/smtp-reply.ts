import { DeadlineError } from '#kernel/clock.ts';
import { messageOf, systemCode } from '#kernel/errors.ts';
import { singleLine } from '#kernel/text.ts';
import type { DeliveryReceipt } from '#monitor/notify/channel.ts';

const messageCommands = new Set(['MAIL FROM', 'RCPT TO', 'DATA']);

// Replies in the 500s that say something about the session or the settings, which people repair: RFC 4954, 6 and RFC 3207, 4.
const repairable = new Set([503, 530, 534, 535, 538]);

export interface SmtpFailure {
  readonly signal: AbortSignal;
  /** How the server is called in the reason. */
  readonly server: string;
  /** Whether the whole mail was written, so that the server may have taken it although nothing said so. */
  readonly isHandedOver: boolean;
}

/**
 * What a failed SMTP session means. Only a permanent refusal of this very message, sender or recipient is final; whatever
 * an operator can repair, a password or a certificate included, is tried again.
 */
export function receiptOf(error: unknown, { signal, server, isHandedOver }: SmtpFailure): DeliveryReceipt {
  const { status, command } = replyOf(error);
  const said = singleLine(messageOf(error));
  const isAboutMessage = command !== null && messageCommands.has(command);
  const isFinal = status !== null && status >= 500 && !repairable.has(status);
  if (!signal.aborted && isAboutMessage && isFinal) return { kind: 'rejected', reason: `${server}: ${said}` };
  const reason = signal.aborted
    ? abortedReason(signal, server)
    : `${server}: ${explain(systemCode(error) ?? '', error, said)}`;
  return { kind: 'retry', reason, ...(isHandedOver && status === null ? uncertain(signal, error) : {}) };
}

// The server may have accepted it, and people would get it again and again. One that is silent often has, and is at work on it (RFC
// 5321, 4.5.3.2.6); one that closed the connection rather has not.
function uncertain(signal: AbortSignal, error: unknown) {
  const isSilent = signal.aborted || systemCode(error) === 'ETIMEDOUT';
  return { isUncertain: true, atLeastMs: (isSilent ? 15 : 2) * 60_000 } as const;
}

function abortedReason(signal: AbortSignal, server: string): string {
  const { reason }: { reason: unknown } = signal;
  return reason instanceof DeadlineError ? `${server}: not done within ${reason.ms / 1_000} s` : messageOf(reason);
}

function explain(code: string, error: unknown, said: string): string {
  const original = originalCode(error) ?? '';
  if (code === 'EAUTH') return `it refuses the login, check smtp.username and smtp.password: ${said}`;
  if (original === 'CERT_HAS_EXPIRED') return `its certificate has expired: ${said}`;
  if (original === 'ERR_TLS_CERT_ALTNAME_INVALID') return `its certificate is for another name: ${said}`;
  if (untrusted.has(original)) return `its certificate is not trusted, name its authority in smtp.ca_file: ${said}`;
  if (code === 'EDNS') return `its name cannot be resolved: ${said}`;
  if (code === 'ETLS') return `TLS failed: ${said}`;
  return original === '' || said.includes(original) ? said : `${said} (${original})`;
}

const untrusted = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

function originalCode(error: unknown): string | null {
  if (!(error instanceof Error) || !('originalCode' in error)) return null;
  return typeof error.originalCode === 'string' ? error.originalCode : null;
}

function replyOf(error: unknown): { readonly status: number | null; readonly command: string | null } {
  if (!(error instanceof Error)) return { status: null, command: null };
  const status = 'responseCode' in error && typeof error.responseCode === 'number' ? error.responseCode : null;
  const command = 'command' in error && typeof error.command === 'string' ? error.command : null;
  return { status, command };
}
