import type { AnswerPattern, Payload } from '../payload-schemas.ts';
import type { Tls } from '../stream/tls-schemas.ts';
import { dialogueOf } from '../stream/presets.ts';
import type { Step } from '../stream/step.ts';
import type { Spec } from './spec.ts';

/** All that is done on the connection, whichever way it was written. */
export function conversationOf(spec: Spec): readonly Step[] {
  const steps = stepsOf(spec);
  const isLater = steps.some((step) => step.do === 'starttls');
  return spec.tls === false || isLater ? steps : [{ do: 'starttls' }, ...steps];
}

/** How TLS is to be started, if it is. */
export function tlsSettingsOf({ tls }: Spec): Tls {
  return typeof tls === 'object' ? tls : { verify: true };
}

function stepsOf(spec: Spec): readonly Step[] {
  if (spec.preset !== undefined) return dialogueOf(spec.preset, spec.starttls === true);
  if (spec.steps === undefined) return [...sending(spec.send), ...stepsFor(spec.expect)];
  return spec.steps.flatMap((step) => [
    ...stepsFor(step.expect),
    ...sending(step.send),
    ...(step.starttls === true ? [{ do: 'starttls' } as const] : []),
  ]);
}

function sending(payload: Payload | undefined): readonly Step[] {
  return payload === undefined ? [] : [{ do: 'send', payload }];
}

function stepsFor(expectation: AnswerPattern | undefined): readonly Step[] {
  return expectation === undefined ? [] : [{ do: 'expect', expectation }];
}
