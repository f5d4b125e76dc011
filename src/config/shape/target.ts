import { z } from 'zod';
import { type AnyCheck, checkOf, checkTypeNames } from '#checks/index.ts';
import { always, refuseBoth } from '#kernel/refine.ts';
import { Duration } from '#kernel/unit-schemas.ts';
import { ObjectiveText } from './objective.ts';
import { CronPattern, TimeZone } from './schedule.ts';

const Every = Duration({ min: '1s', max: '30d' });

// One name may be written without a list around it.
const namesWithin = (most: number, hint: string) =>
  z.codec(z.union([z.string(), z.array(z.string()).max(most)], { error: hint }), z.array(z.string()), {
    decode: (written) => (typeof written === 'string' ? [written] : written),
    encode: (names) => names,
  });

const NodesChoice = z.union(
  [
    z.literal('all'),
    z.int().min(1).max(1_000),
    namesWithin(1_000, 'a list of names').refine((names) => names.length > 0),
  ],
  { error: 'expected all, a number of nodes such as 3, or a list of their names' },
);

/** A name, or a list of names. */
export const Names = (what: string, most = 1_000) => namesWithin(most, `expected a list of ${what}`);

export const Recipients = z.union([z.literal('all'), Names('names')], {
  error: 'expected all, or a list of names under notify',
});

export const Labels = z
  .record(
    z.string().regex(/^(?!__)[a-zA-Z_][a-zA-Z0-9_]{0,62}$/, {
      error: 'the name of a label has letters, digits and "_", and begins with a letter',
    }),
    z.string().max(200),
  )
  .refine((labels) => Object.keys(labels).length <= 16, { error: 'at most 16 labels' });

const ownKeys = {
  every: Every.optional().describe('How often the target is checked. Default: defaults.every.'),
  cron: CronPattern.optional().describe(
    'When the target is checked, instead of every: five fields, or six with seconds.',
  ),
  timezone: TimeZone.optional().describe('The time zone of cron. Default: defaults.timezone.'),
  nodes: NodesChoice.optional().describe(
    'all, how many, or the names of the nodes that check it. Default: defaults.nodes.',
  ),
  rules: Names('rules').optional().describe('The rules that notify. Default: defaults.rules.'),
  notify: Recipients.optional().describe('The recipients: all, or names under notify. Default: defaults.notify.'),
  depends_on: z
    .union([z.string(), z.array(z.string()).max(100)], {
      error: 'expected the name of a target, or a list of such names',
    })
    .optional()
    .describe(
      'Targets without which this one cannot be reached: while one of them is down, its notifications are suppressed.',
    ),
  evidence: z
    .boolean()
    .optional()
    .describe('Whether nodes gather evidence when the target fails, if that is not disabled for all. Default: true.'),
  labels: Labels.default({}).describe('Labels of your own for metrics and mails.'),
  objective: ObjectiveText.optional().describe(
    'What the target promises: for which share of a period it is not down, such as "99.9% over 30d", or of the calendar month, such as "99.9% over month" or "99.9% over month in Europe/Berlin"; or none. Default: defaults.objective.',
  ),
};

/** What a target may have that is short for several. It is gone before targets are judged. */
const shortKeys = {
  hosts: z
    .union([z.array(z.string()).min(1).max(10_000), z.record(z.string(), z.string())], {
      error: 'expected a list of hosts, or a map of names to hosts',
    })
    .optional()
    .describe('Instead of host: a target like this for each of these hosts, named by it or by the key of a map.'),
};

// Nodes do not check targets that send pings.
function ownKeysOf({ heard }: AnyCheck) {
  const { nodes: _nodes, evidence: _evidence, ...others } = ownKeys;
  return heard === null ? ownKeys : others;
}

/** Settings for targets of a check type: any key of theirs but their destination. */
export function TypeDefaults(check: AnyCheck) {
  const { type: _type, host: _host, ...options } = check.Spec.shape;
  // A schema takes a kilobyte, so those that are optional already stay as they are.
  const shape = Object.entries({ ...options, ...ownKeysOf(check) }).map(
    ([key, value]) => [key, value instanceof z.ZodOptional ? value : z.optional(value)] as const,
  );
  return z.strictObject(Object.fromEntries(shape));
}

export const Defaults = () =>
  z.strictObject({
    every: Every.default(60_000).describe('How often a target is checked that has neither every nor cron.'),
    timezone: TimeZone.default('UTC').describe('The time zone of cron patterns without a timezone.'),
    nodes: NodesChoice.default('all').describe('The nodes that check a target that has no nodes.'),
    rules: Names('rules').default(['down']).describe('The rules of a target that has none.'),
    notify: Recipients.default('all').describe('The recipients of a target that has no notify.'),
    objective: ObjectiveText.optional().describe('The objective of a target that has none. Default: none.'),
    unknown_after: z
      .union([z.literal('never'), Duration({ min: '1m', max: '30d' })], {
        error: 'expected a duration such as 15m, or never',
      })
      .default(900_000)
      .describe(
        'After how long a target that no node can judge is notified once as UNKNOWN, with severity warning; never to disable it.',
      ),
    doubt_limit: Duration({ min: '1m', max: '1h' })
      .default(300_000)
      .describe(
        'For how long a doubt about Watchpost itself, such as lost connectivity, may hold back a critical notification; it goes out with the doubt stated then. Warnings wait three times as long.',
      ),
    ...Object.fromEntries(
      checkTypeNames.map((name) => [
        name,
        TypeDefaults(checkOf(name))
          .optional()
          .describe(`What holds for targets of the type ${name} that do not say otherwise.`),
      ]),
    ),
  });

/** What a target has besides the options of its check type. */
export const TargetKeys = z.object(ownKeys);
export type TargetKeys = z.output<typeof TargetKeys>;

/** One form for each check type: `check` names it, its options stand beside the keys of every target. */
export const Target = () => targetOf(checkTypeNames.map((name) => checkOf(name)));

/** What of a target as it is written belongs to the check, in the form of a spec. */
export function specOf(target: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { check, ...rest } = target;
  return { type: check, ...Object.fromEntries(Object.entries(rest).filter(([key]) => !Object.hasOwn(ownKeys, key))) };
}

/** The union of the targets of these check types. Throws if an option of a type bears the name of a target's own key. */
export function targetOf(checks: readonly AnyCheck[]) {
  const [first, ...rest] = checks.map(formOf);
  if (first === undefined) throw new RangeError('there are no check types');
  return z.discriminatedUnion('check', [first, ...rest]);
}

function formOf(check: AnyCheck) {
  const { type, summary, Spec } = check;
  const { type: _, ...options } = Spec.shape;
  const taken = Object.keys(options).filter((key) => key === 'check' || Object.hasOwn(ownKeys, key));
  if (taken.length > 0)
    throw new RangeError(`option ${taken.join(', ')} of check type ${type} is a key of every target`);
  return z
    .strictObject({
      check: z.literal(type).describe(summary),
      ...options,
      ...ownKeysOf(check),
      ...(check.heard === null ? shortKeys : {}),
    })
    .superRefine((target, context) => {
      refuseBoth(target, 'every', 'cron', context);
      if (target.timezone !== undefined && target.cron === undefined)
        context.addIssue({ code: 'custom', path: ['timezone'], message: 'needs cron, and there is none' });
    }, always)
    .describe(summary);
}
