import { defineCheck } from '../check.ts';
import { serverParts } from '../database/parts.ts';
import { Detail } from './detail.ts';
import { evidence } from './evidence.ts';
import { lines } from './lines.ts';
import { Spec } from './spec.ts';

export const amqp = defineCheck({
  ...serverParts,
  type: 'amqp',
  summary: 'Signs in to an AMQP 0-9-1 broker such as RabbitMQ, and looks at a queue.',
  Spec,
  Detail,
  evidence,
  lines,
  row: null,
});
