import { z } from 'zod';
import { always, refuseBoth } from '#kernel/refine.ts';
import { RowsExpectation, ServerHost, serverOptions } from '../database/options.ts';
import type { ServerPorts } from '../database/ports.ts';

const ports: ServerPorts = { plain: 3_306, scheme: 'mysql', secure: null };

export const Spec = z
  .strictObject({
    type: z.literal('mysql'),
    host: ServerHost(ports),
    ...serverOptions,
    username: serverOptions.username.unwrap().min(1).default('root').describe('Who signs in.'),
    database: z.string().min(1).max(64).optional().describe('The database to use. Default: none.'),
    query: z
      .string()
      .min(1)
      .max(10_000)
      .default('SELECT 1')
      .describe('One statement, run in a read-only transaction. Its value is the first column of the first row.'),
    expect: RowsExpectation.prefault({}).describe('What the query must give.'),
  })
  .superRefine((spec, context) => refuseBoth(spec, 'password', 'password_file', context), always);
export type Spec = z.output<typeof Spec>;
