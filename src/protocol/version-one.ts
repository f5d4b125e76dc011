import { z } from 'zod';
import { checkOf, startableTypeNames } from '#checks/index.ts';
import { ApiLocation } from './location.ts';
import { NodeId, RequestId } from './shapes.ts';

// The shapes of /api/v1: the same checks with everything that is known. New keys may come; none goes or changes its meaning.

/** A node and its place. */
const ApiNode = z
  .object({
    id: NodeId,
    name: z.string().describe('What stands before the first dot of the identifier; metrics use it.'),
    country_code: z.string(),
    country: z.string(),
    city: z.string(),
    asn: z.string(),
    ip: z.string(),
  })
  .describe('A node and its place; what is unknown is empty.');

const ApiCapability = z
  .union([z.object({ able: z.literal(true) }), z.object({ able: z.literal(false), reason: z.string() })])
  .describe('Whether the node can run a check type, and why not.');

export const ApiNodeHealth = z
  .object({
    ...ApiNode.shape,
    online: z.boolean(),
    reason: z.string().nullable().describe('Why the node is not online.'),
    running: z.int().min(0).describe('Checks that run on the node now.'),
    queued: z.int().min(0).describe('Checks that wait for a place.'),
    lag_seconds: z.number().min(0).describe('How late the node was at the worst in the last second.'),
    capabilities: z.record(z.string(), ApiCapability),
  })
  .describe('A node, and how it is.');
export type ApiNodeHealth = z.infer<typeof ApiNodeHealth>;

export const ApiNodeList = z
  .object({ nodes: z.array(ApiNodeHealth) })
  .describe('All nodes, those that are offline too.');

function resultOf({ Outcome, Detail, givesInterim, rawOutput }: ReturnType<typeof checkOf>) {
  const result = z.object({
    node: ApiNode,
    outcome: Outcome.nullable().describe('Null while the node works.'),
  });
  if (!givesInterim && rawOutput === null) return result;
  return result.extend({
    interim: Detail.optional().describe(
      'What the node has measured so far, in the form of the `detail` of its outcome; absent once it has one.',
    ),
    raw_output: z
      .string()
      .optional()
      .describe('The outcome, or what has been measured so far, as the usual program prints it; absent before.'),
  });
}

const forms = startableTypeNames.map((type) =>
  z.object({
    id: RequestId,
    type: z.literal(type),
    host: z.string(),
    port: z.string().nullable(),
    created_at: z.iso.datetime(),
    state: z.enum(['running', 'finished']),
    report_url: z.url(),
    results: z.array(resultOf(checkOf(type))),
  }),
);

/** A check with its outcomes so far. */
export const ApiCheck = z.union(forms).describe('A check with its outcomes so far.');
export type ApiCheck = z.infer<typeof ApiCheck>;

/** What a call of the interface says. */
export const StartParameters = z
  .object({
    host: z.string().min(1).max(2_048).describe('A name, an address, `name:port` or `scheme://name[:port][/path]`.'),
    max_nodes: z
      .int()
      .min(0)
      .max(1_000_000)
      .optional()
      .describe('The most nodes to ask; 0 or absent: as many as allowed.'),
    node: z
      .array(z.string())
      .optional()
      .describe('The nodes to ask, instead of max_nodes; in a query repeated, also as `node[]`.'),
  })
  .describe('What to check, from where.');

const LocationText = z.string().describe('One of them: `country:DE`, `as:3320` or `city:Berlin`.');

const requests = startableTypeNames.map((type) =>
  z.strictObject({
    type: z.literal(type),
    ...StartParameters.shape,
    location: z
      .array(z.union([LocationText, ApiLocation]))
      .optional()
      .describe('Only nodes in one of these places, up to max_nodes; not together with `node`.'),
    options: checkOf(type).apiOptions.optional().describe('How to check.'),
  }),
);

export const ApiCheckRequest = z.union(requests).describe('What to check, how, from where.');

const ApiRate = z
  .object({
    limit: z.int().min(1).describe('How many, also at once.'),
    window_seconds: z.number().describe('In how long.'),
  })
  .describe('A limit of everyone together. A check costs one for each node.');

const ApiAllowance = ApiRate.extend({
  remaining: z.int().min(0).describe('How many nodes the caller may ask now.'),
  reset_seconds: z.int().min(0).describe('Seconds until nothing of the limit is used.'),
}).describe('A limit of the caller.');

export const ApiLimits = z
  .object({
    max_nodes: z.int().min(1).describe('The most nodes for one check.'),
    checks: ApiAllowance,
    domain: ApiAllowance.nullable().describe(
      'The limit of `domain` checks besides; null for callers with a token or on the machine of the service.',
    ),
    per_target: ApiRate,
    per_node: ApiRate,
    overall: ApiRate,
  })
  .describe('What the caller may start.');
export type ApiLimits = z.infer<typeof ApiLimits>;
