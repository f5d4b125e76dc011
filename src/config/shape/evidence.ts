import { z } from 'zod';
import { PatternText } from '#checks/index.ts';

const EvidenceKeys = z.strictObject({
  enabled: z.boolean().default(true).describe('Whether evidence is gathered at all.'),
  redact: z
    .array(PatternText())
    .max(50)
    .default([])
    .describe('Regular expressions (RE2): what they match in headers, bodies and received bytes is redacted.'),
  last_good: z
    .boolean()
    .default(true)
    .describe('Whether nodes gather evidence of healthy targets too, once a day, to compare it with.'),
});

/** What is gathered about failures. */
export const Evidence = z.union([z.boolean(), EvidenceKeys], {
  error: 'expected true, false, or a map with enabled, redact and last_good',
});

/** What is configured about evidence. */
export interface ConfiguredEvidence {
  readonly enabled: boolean;
  readonly redact: readonly string[];
  readonly lastGood: boolean;
  /** Names of the targets about which nothing is gathered. */
  readonly without: readonly string[];
}

export function resolveEvidence(
  written: z.output<typeof Evidence>,
  targets: readonly { readonly name: string; readonly keys: { readonly evidence?: boolean | undefined } }[],
): ConfiguredEvidence {
  const keys = typeof written === 'boolean' ? EvidenceKeys.parse({ enabled: written }) : written;
  const without = targets.flatMap(({ name, keys: own }) => (own.evidence === false ? [name] : []));
  return { enabled: keys.enabled, redact: keys.redact, lastGood: keys.last_good, without };
}
