import { defineCheck, startPlain } from '../check.ts';
import { serverTable } from '../database/detail.ts';
import { serverFiles } from '../database/options.ts';
import { endpointOf, portOf } from '../endpoint.ts';
import { Detail } from './detail.ts';
import { evidence } from './evidence.ts';
import { lines } from './lines.ts';
import { probe } from './probe.ts';
import { Spec } from './spec.ts';

export const mqtt = defineCheck({
  type: 'mqtt',
  summary: 'Signs in to an MQTT broker, and receives a message.',
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
