import type { AnswerPattern, Payload } from '../payload.ts';

/** One thing that is done on an open connection. */
export type Step =
  | {
      readonly do: 'expect';
      readonly expectation: AnswerPattern;
      /** What ends the conversation at once: a refusal, if the protocol has words for it. */
      readonly refusal?: AnswerPattern;
      /** What is expected, in words, if the bytes say nothing to people. */
      readonly words?: string;
    }
  | { readonly do: 'send'; readonly payload: Payload }
  | { readonly do: 'starttls' };
