import { defineCheck } from '../check.ts';
import { serverParts } from '../database/parts.ts';
import { Detail } from './detail.ts';
import { evidence } from './evidence.ts';
import { lines } from './lines.ts';
import { Spec } from './spec.ts';
import { table } from './table.ts';

export const mongodb = defineCheck({
  ...serverParts,
  type: 'mongodb',
  summary: 'Signs in to MongoDB and runs a command.',
  Spec,
  Detail,
  evidence,
  lines,
  table,
  row: null,
});
