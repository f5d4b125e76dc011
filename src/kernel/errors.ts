/**
 * Every error that Watchpost itself raises. `exitCode` is what the process ends with when the error ends it:
 * 2 says "your input is wrong", 1 "we could not do it", 77 "we may not" (EX_NOPERM of sysexits.h): starting it again is no use.
 */
const catalogue = {
  config_invalid: { exitCode: 2 },
  usage: { exitCode: 2 },
  edit_conflict: { exitCode: 1 },
  store_newer: { exitCode: 1 },
  store_unwritable: { exitCode: 1 },
  store_corrupt: { exitCode: 1 },
  store_failed: { exitCode: 1 },
  daemon_unreachable: { exitCode: 1 },
  starting: { exitCode: 1 },
  listen_failed: { exitCode: 1 },
  node_busy: { exitCode: 1 },
  node_gone: { exitCode: 1 },
  node_revoked: { exitCode: 77 },
  no_nodes: { exitCode: 1 },
  service_busy: { exitCode: 1 },
  internal: { exitCode: 1 },
} as const satisfies Record<string, { exitCode: number }>;

export type ErrorCode = keyof typeof catalogue;

/** Our own trouble, as opposed to a target's, which is a value. The message names what, where and the way out. */
export class WatchpostError extends Error {
  override readonly name = 'WatchpostError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  get exitCode(): number {
    return catalogue[this.code].exitCode;
  }
}

/** The message of anything that was thrown, on one line. */
export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error);
  return text.replace(runtimeAdvice, '').replaceAll(/\s+/g, ' ').trim();
}

// What Node advises those who start it is of no use to those who configure this program.
const runtimeAdvice = /;? if the root CA is installed locally, try running Node\.js with [-\w]+/i;

/** The `code` of a system error (`ECONNREFUSED`), or null. */
export function systemCode(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}
