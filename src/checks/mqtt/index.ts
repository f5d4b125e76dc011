import { defineCheck } from '../check.ts';
import { serverParts } from '../database/parts.ts';
import { Detail } from './detail.ts';
import { evidence } from './evidence.ts';
import { lines } from './lines.ts';
import { Spec } from './spec.ts';

export const mqtt = defineCheck({
  ...serverParts,
  type: 'mqtt',
  summary: 'Signs in to an MQTT broker, and receives a message.',
  Spec,
  Detail,
  evidence,
  lines,
  row: null,
});
