import type { Detail } from './detail.ts';

/** What is known before an answer. */
export const nothingFound: Detail = {
  status: null,
  reason: '',
  version: null,
  hops: [],
  body_bytes: null,
  body_complete: null,
  headers: {},
  certificate: null,
  tls_protocol: null,
  timed_by: null,
  failed_expectation: null,
};
