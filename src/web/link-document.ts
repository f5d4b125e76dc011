import { failures, jsonContent, refTo, textContent } from '#protocol/openapi.ts';
import { bodyOf, parameter } from './document-parts.ts';

// What is called by an address that is as good as a password: by jobs, and by people out of a message.

const text = (type: 'text/plain' | 'text/html', description: string, headers: object = {}) => ({
  description,
  headers,
  content: textContent(type),
});

const later = { 'Retry-After': { description: 'Seconds.', required: true, schema: { type: 'integer' } } };
const secret = parameter('path', 'secret', 'The secret of the job.');
const run = parameter('query', 'rid', 'Which run it is, if a job has several at a time.', {
  type: 'string',
  pattern: '^[A-Za-z0-9_.:-]{1,64}$',
});

const call = (operationId: string, summary: string, parameters: readonly object[], more: object = {}) => ({
  operationId,
  summary,
  parameters,
  ...more,
  responses: {
    200: text('text/plain', 'It is stored.'),
    ...failures(['not_found', 'too_large', 'internal']),
    400: text('text/plain', 'The name of the run is none.'),
    429: text('text/plain', 'Too many calls.', later),
    503: text('text/plain', 'It could not be stored, and is to come again.', later),
  },
});

const output = {
  requestBody: {
    description: 'What the job has to say, of any kind and length; its last lines are kept.',
    content: { '*/*': {} },
  },
};

const what = parameter('path', 'what', 'How it goes: it begins, it failed, or it ended with this exit code.', {
  type: 'string',
  pattern: '^(?:start|fail|[0-9]{1,3})$',
});

const token = parameter('path', 'token', 'What stands in the link.');
const pageOr = (description: string, schema: object) => ({
  description,
  content: { ...textContent('text/html'), ...jsonContent(schema) },
});
const message = bodyOf({ message: { type: 'string', description: 'What the page says.' } });
const problem = refTo('ErrorBody');
// A browser gets a page, a program JSON.
const pages = (summary: string) => ({
  200: pageOr(`${summary}.`, message),
  404: pageOr('The link is not one of this installation.', problem),
  410: pageOr('The incident is over, or it is acknowledged already.', problem),
});

/** Their paths. */
export const linkPaths = {
  '/beat/{secret}': {
    get: call('hearSuccess', 'Takes the call of a job that ended well', [secret, run]),
    post: call(
      'hearSuccessWithOutput',
      'Takes the call of a job that ended well, with its output',
      [secret, run],
      output,
    ),
  },
  '/beat/{secret}/{what}': {
    get: call('hearJob', 'Takes the call of a job that begins or ended', [secret, what, run]),
    post: call(
      'hearJobWithOutput',
      'Takes the call of a job that begins or ended, with its output',
      [secret, what, run],
      output,
    ),
  },
  '/acknowledge/{token}': {
    get: {
      operationId: 'showLink',
      summary: 'What a link in a message is about, with a button',
      parameters: [token],
      responses: { ...pages('The page with its button'), ...failures(['too_large', 'internal']) },
    },
    post: {
      operationId: 'acknowledgeByLink',
      summary: 'The button behind a link in a message: acknowledges the incident',
      parameters: [token],
      requestBody: { content: { 'application/x-www-form-urlencoded': {} } },
      responses: {
        ...pages('It is acknowledged'),
        ...failures(['bad_request', 'unsupported_media_type', 'too_large', 'internal'], { hasBody: true }),
      },
    },
  },
};
