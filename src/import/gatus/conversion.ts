import { payloadText } from '../convert.ts';
import type { PlainValue } from '../draft.ts';
import type { EndpointExpectations } from './expect.ts';
import type { GatusEndpoint } from './schema.ts';

/** What is not as it was. */
export interface ConversionRemark {
  readonly kind: 'lost' | 'differs';
  readonly key: string;
  readonly text: string;
}

/** An endpoint on its way to a check. */
export interface EndpointConversion {
  readonly endpoint: GatusEndpoint;
  readonly wanted: EndpointExpectations;
  readonly timeout: string;
  readonly say: (kind: ConversionRemark['kind'], key: string, text: string) => void;
}

/** What every check has. */
export const bare = ({ url }: GatusEndpoint, check: string, timeout: string) => ({
  check,
  host: url.replace(/^[a-z]+:\/\//, ''),
  timeout,
});

/** One text, or one pattern. */
export function textWanted({ wanted, say }: EndpointConversion): PlainValue | undefined {
  const all = Object.entries(wanted.body).flatMap(([key, value]) =>
    [value].flat().map((one) => [key, typeof one === 'string' ? one : ''] as const),
  );
  const chosen = all.find(([key]) => key === 'contains') ?? all.find(([key]) => key === 'regex');
  const count = all.length - (chosen === undefined ? 0 : 1);
  if (count > 0)
    say(
      'lost',
      'conditions',
      `${count} ${count === 1 ? 'condition' : 'conditions'} on [BODY]: one text or pattern is expected`,
    );
  if (chosen === undefined) return undefined;
  return chosen[0] === 'contains' ? payloadText(chosen[1]) : { regex: chosen[1] };
}
