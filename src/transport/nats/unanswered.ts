import { errors } from '@nats-io/transport-node';

/** Whether a request failed because no answer came in time. */
export function isTimeout(error: unknown): boolean {
  return error instanceof errors.TimeoutError || (error instanceof Error && error.cause instanceof errors.TimeoutError);
}

/** Whether a request failed because it has no subscriber, as the NATS server says at once. */
export function isAbsence(error: unknown): boolean {
  if (error instanceof errors.NoRespondersError) return true;
  return error instanceof errors.RequestError && error.isNoResponders();
}
