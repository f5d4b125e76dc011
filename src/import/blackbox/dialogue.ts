import { z } from 'zod';
import { payloadText } from '../convert.ts';
import type { PlainValue, PlainMap, DifferenceReporter } from '../draft.ts';
import { Text } from './shared-settings.ts';

/** One step of `query_response`. */
export const Step = z.looseObject({
  expect: Text.optional(),
  expect_bytes: Text.optional(),
  send: z.union([Text, z.instanceof(Uint8Array)]).optional(),
  starttls: z.boolean().default(false),
});
/** The keys of a `tcp` check that hold a dialogue: one question and one answer need no list of steps. */
export function dialogueKeysOf(steps: readonly PlainMap[]): PlainMap {
  const [first, second] = steps;
  if (steps.length === 0) return {};
  if (steps.length === 1 && first !== undefined && Object.keys(first).length === 1 && !('starttls' in first))
    return first;
  const isQuestion = first?.['expect'] === undefined && first?.['starttls'] === undefined;
  const isAnswer = second !== undefined && Object.keys(second).every((key) => key === 'expect');
  if (steps.length === 2 && isQuestion && isAnswer) return { ...first, ...second };
  return { steps };
}

/** The steps of a dialogue as a `tcp` check holds it, as far as it can. */
export function stepsOf(written: readonly z.output<typeof Step>[], say: DifferenceReporter): readonly PlainMap[] {
  const steps: PlainMap[] = [];
  for (const { expect, expect_bytes: bytes, send, starttls } of written) {
    if (typeof send === 'string' && expect !== undefined && /\$(?:\d|\{\w+\})/.test(send)) {
      say('lost', 'the dialogue from where it repeats received text');
      break;
    }
    // Both stand in one step there, and are waited for one after the other.
    if (expect !== undefined && bytes !== undefined) steps.push({ expect: { regex: expect } });
    const heard = bytes === undefined ? undefined : { hex: Buffer.from(bytes).toString('hex') };
    const step = {
      ...(expect === undefined && heard === undefined ? {} : { expect: heard ?? { regex: expect } }),
      ...(send === undefined ? {} : { send: sentBytes(send) }),
      ...(starttls ? { starttls: true } : {}),
    };
    if (Object.keys(step).length > 0) steps.push(step);
  }
  return steps;
}

const sentBytes = (send: string | Uint8Array): PlainValue =>
  typeof send === 'string' ? payloadText(`${send}\n`) : { base64: Buffer.from(send).toString('base64') };
