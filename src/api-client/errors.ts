/**
 * A call that failed. `code` is the `error` of the table in docs/api.md, `unreachable` if the service did not answer, `timeout` if the
 * time of the call or of the check was over, or `invalid_answer` if something else than the service answered.
 */
export class CheckServiceError extends Error {
  override readonly name = 'CheckServiceError';
  readonly code: string;
  /** The status of the answer; null without one. */
  readonly status: number | null;
  /** After how many seconds the same call may succeed; null if the service did not say. */
  readonly retryAfterSeconds: number | null;

  constructor(code: string, message: string, { status, retryAfterSeconds, cause }: CheckServiceErrorDetails = {}) {
    super(message, { cause });
    this.code = code;
    this.status = status ?? null;
    this.retryAfterSeconds = retryAfterSeconds ?? null;
  }
}

export interface CheckServiceErrorDetails {
  readonly status?: number | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly cause?: unknown;
}
