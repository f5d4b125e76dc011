import { defineCheck } from '../check.ts';
import { endpointOf, portOf } from '../endpoint.ts';
import { Detail } from './detail.ts';
import { evidence } from './evidence.ts';
import { lines } from './lines.ts';
import { Spec } from './spec.ts';
import { table } from './table.ts';

/** `seconds` is the key exchange, the login and the command, without the connection. */
export const ssh = defineCheck({
  type: 'ssh',
  summary: 'Checks the host key of an SSH server, and can log in with a key and run a command.',
  Spec,
  Detail,
  signsIn: true,
  files: [['key_file']],
  phases: ['resolve', 'connect', 'login', 'query'],
  facts: [],
  deadlineMs: ({ timeout }) => timeout,
  port: ({ host }) => String(portOf(endpointOf(host))),
  answers: ({ detail }) => (typeof detail?.host_key === 'string' ? [detail.host_key] : null),
  evidence,
  lines,
  table,
  row: null,
});
