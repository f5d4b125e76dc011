import { defineCheck } from '../check.ts';
import { serverParts } from '../database/parts.ts';
import { Detail } from './detail.ts';
import { evidence } from './evidence.ts';
import { lines } from './lines.ts';
import { Spec } from './spec.ts';

export const redis = defineCheck({
  ...serverParts,
  type: 'redis',
  summary: 'Signs in to Redis or Valkey and runs a command.',
  Spec,
  Detail,
  evidence,
  lines,
  row: null,
});
