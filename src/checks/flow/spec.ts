import { z } from 'zod';
import { Duration } from '#kernel/unit-schemas.ts';
import { PatternText } from '../pattern-schema.ts';
import { HeaderName, JsonPathText, Spec as HttpSpec } from '../http/spec.ts';
import { namesIn } from './template.ts';

const Name = z.string().regex(/^[a-z]\w{0,31}$/i, { error: 'expected letters, digits and "_", such as "token"' });

const Capture = z.union(
  [
    z.strictObject({ json: JsonPathText.describe('JSONPath (RFC 9535): its first value, a text, number or boolean.') }),
    z.strictObject({ header: HeaderName.describe('A header of the answer.') }),
    z.strictObject({ cookie: z.string().min(1).max(200).describe('A cookie that was set.') }),
    z.strictObject({ regex: PatternText().describe('Regular expression (RE2): its first group, or all it matches.') }),
  ],
  { error: 'expected { json }, { header }, { cookie } or { regex }' },
);
export type Capture = z.output<typeof Capture>;

const { method, body, redirects, expect } = HttpSpec.shape;
const HeaderTemplate = z
  .string()
  .max(8_192)
  .regex(/^[\t\u{20}-\u{7e}\u{80}-\u{ff}]*$/u, { error: 'must not contain line breaks or control characters' });

const FlowStep = z.strictObject({
  name: z
    .string()
    .min(1)
    .max(50)
    .regex(/^\P{Cc}+$/u)
    .optional()
    .describe('How the step is called. Default: its number.'),
  url: z
    .string()
    .min(1)
    .max(2_000)
    .regex(/^[^\s]*$/, { error: 'must not contain white space' })
    .default('/'),
  method,
  headers: z.record(HeaderName, HeaderTemplate).default({}),
  body,
  redirects,
  expect,
  capture: z
    .record(Name, Capture)
    .refine((all) => Object.keys(all).length <= 20, { error: 'at most 20 values' })
    .default({}),
});
export type FlowStep = z.output<typeof FlowStep>;

const { host, http2, tls, max_body } = HttpSpec.shape;

export const Spec = z
  .strictObject({
    type: z.literal('flow'),
    host: host.describe('URL that the addresses of the steps are relative to, or a host name with or without port.'),
    steps: z
      .array(FlowStep)
      .min(1)
      .max(20)
      .describe('The requests, in order: each a map of name, url, method, headers, body, redirects, expect, capture.'),
    values: z
      .record(Name, z.string().max(8_000))
      .default({})
      .describe(
        'Texts for {{name}} in the steps, such as passwords; in a configuration best given as ${NAME} from the environment.',
      ),
    timeout: Duration({ min: '100ms', max: '60s' }).default(30_000).describe('The longest that all steps may take.'),
    family: z.literal([4, 6]).optional().describe('IPv4 or IPv6 only. Default: IPv4 if the name has it, else IPv6.'),
    http2,
    tls,
    max_body,
  })
  .superRefine(({ steps, values }, context) => {
    const known = new Set(Object.keys(values));
    for (const [index, { url, headers, body: text = '', capture }] of steps.entries()) {
      const used = [
        ['url', url],
        ['body', text],
        ...Object.values(headers).map((value) => ['headers', value] as const),
      ] as const;
      for (const [key, template] of used)
        for (const name of namesIn(template))
          if (!known.has(name)) {
            const message = `{{${name}}} is neither in values nor captured by an earlier step`;
            context.addIssue({ code: 'custom', path: ['steps', index, key], message });
          }
      for (const name of Object.keys(capture)) known.add(name);
    }
  });
export type Spec = z.output<typeof Spec>;
