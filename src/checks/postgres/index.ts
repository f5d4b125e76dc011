import { defineCheck } from '../check.ts';
import { serverParts } from '../database/parts.ts';
import { Detail } from './detail.ts';
import { evidence } from './evidence.ts';
import { lines } from './lines.ts';
import { Spec } from './spec.ts';

export const postgres = defineCheck({
  ...serverParts,
  type: 'postgres',
  summary: 'Signs in to PostgreSQL and runs a query.',
  Spec,
  Detail,
  evidence,
  lines,
  row: null,
});
