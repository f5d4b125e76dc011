import { z } from 'zod';
import { messageOf, systemCode } from '#kernel/errors.ts';
import { singleLine } from '#kernel/text.ts';

/**
 * THE table of what a call can fail with: the code in the body, the status of the answer, and what it means. Of several codes with
 * one status the first is the general one.
 */
export const apiErrors = {
  bad_request: { status: 400, meaning: 'The request is not well-formed.' },
  invalid_host: { status: 400, meaning: '`host` is missing or is no target for this check type.' },
  invalid_type: { status: 400, meaning: 'There is no such check type.' },
  invalid_option: {
    status: 400,
    meaning: 'An option is unknown, not available over the API, or has an invalid value.',
  },
  invalid_node: { status: 400, meaning: 'A `node` is no node identifier.' },
  unauthorized: { status: 401, meaning: 'Starting a check needs a token here.' },
  forbidden: { status: 403, meaning: 'This is for programs on the machine itself.' },
  forbidden_target: { status: 403, meaning: 'This target may not be checked.' },
  cross_site: { status: 403, meaning: 'A browser asked on behalf of another site, or ahead of time.' },
  not_found: { status: 404, meaning: 'There is no such path, or no check of this identifier any more.' },
  method_not_allowed: { status: 405, meaning: 'The path is not called this way.' },
  timeout: { status: 408, meaning: 'The request took too long to come.' },
  too_large: { status: 413, meaning: 'The body is too large; 431 for the headers.' },
  too_long: { status: 414, meaning: 'The path is too long.' },
  unsupported_media_type: { status: 415, meaning: 'The body is of a kind that is not read here.' },
  no_nodes: { status: 422, meaning: 'None of the requested nodes is online; 503 if no node is online.' },
  config_invalid: { status: 422, meaning: 'The configuration is invalid, and was not loaded.' },
  limit_exceeded: { status: 429, meaning: 'Too many checks; `Retry-After` says when to come back.' },
  internal: { status: 500, meaning: 'The service failed; its log has the reason.' },
  unavailable: { status: 503, meaning: 'The service cannot take this now; try again later.' },
  stuck: { status: 503, meaning: 'A part of the program makes no progress.' },
  not_ready: { status: 503, meaning: 'The program does not take requests yet, or not any more.' },
} as const satisfies Record<string, { readonly status: number; readonly meaning: string }>;

export type ApiErrorCode = keyof typeof apiErrors;

/** The body of every call that failed. `error` stands at the top level of no other answer. */
export const ErrorBody = z
  .object({
    ok: z.literal(0).optional().describe('The call failed.'),
    error: z.string().describe('A code of the table.'),
    message: z.string().optional().describe('A sentence for people.'),
  })
  .describe('Why a call failed.');
export type ErrorBody = z.infer<typeof ErrorBody>;

export function errorBody(error: ApiErrorCode, message: string) {
  return { ok: 0, error, message: singleLine(message) } as const satisfies ErrorBody;
}

/** What is wrong with a request that the framework refuses before any route reads it, and what would be right. */
export function refusalOf(error: unknown): string {
  return refusals.get(systemCode(error) ?? '') ?? messageOf(error);
}

// Its own words name neither limits nor remedies, or repeat the whole path.
const refusals: ReadonlyMap<string, string> = new Map([
  ['FST_ERR_CTP_BODY_TOO_LARGE', 'the body is larger than 64 KiB'],
  ['FST_ERR_MAX_PARAM_LENGTH', 'a part of the path is longer than 2048 characters'],
  [
    'FST_ERR_CTP_INVALID_MEDIA_TYPE',
    'this content type is not read here: send JSON with "Content-Type: application/json"',
  ],
  ['FST_ERR_CTP_INVALID_JSON_BODY', 'the body is not JSON as its content type says'],
  ['FST_ERR_CTP_EMPTY_JSON_BODY', 'the body is empty, and its content type says JSON'],
]);

/** The general code of a failure that has no more than a status. */
export function codeOfStatus(status: number): ApiErrorCode {
  return codesByStatus.get(status) ?? (status < 500 ? 'bad_request' : 'internal');
}

const isApiErrorCode = (code: string): code is ApiErrorCode => Object.hasOwn(apiErrors, code);

const codesByStatus: ReadonlyMap<number, ApiErrorCode> = new Map(
  Object.keys(apiErrors)
    .filter(isApiErrorCode)
    .map((code) => [apiErrors[code].status, code] as const)
    .toReversed(),
);
