import { defineCheck, startPlain } from '../check.ts';
import { serverTable } from '../database/detail.ts';
import { serverFiles } from '../database/options.ts';
import { endpointOf, portOf } from '../endpoint.ts';
import { Detail } from './detail.ts';
import { evidence } from './evidence.ts';
import { lines } from './lines.ts';
import { probe } from './probe.ts';
import { Spec } from './spec.ts';

export const amqp = defineCheck({
  type: 'amqp',
  summary: 'Signs in to an AMQP 0-9-1 broker such as RabbitMQ, and looks at a queue.',
  Spec,
  Detail,
  files: serverFiles,
  signsIn: true,
  phases: ['resolve', 'connect', 'tls', 'login', 'query'],
  facts: ['certificate_expires_at'],
  deadlineMs: (spec) => spec.timeout,
  port: ({ host }) => String(portOf(endpointOf(host))),
  start: startPlain(probe),
  certificate: ({ detail }) => detail?.tls?.certificate ?? null,
  evidence,
  lines,
  table: serverTable,
  row: null,
});
