import { defineCheck } from '../check.ts';
import { serverParts } from '../database/parts.ts';
import { Detail } from './detail.ts';
import { evidence } from './evidence.ts';
import { lines } from './lines.ts';
import { Spec } from './spec.ts';

export const mysql = defineCheck({
  ...serverParts,
  type: 'mysql',
  summary: 'Signs in to MySQL or MariaDB and runs a query.',
  Spec,
  Detail,
  evidence,
  lines,
  row: null,
});
