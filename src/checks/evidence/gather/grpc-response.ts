import type { GrpcResponse } from '../../grpc/call.ts';
import { readResponse } from '../../grpc/message.ts';
import { describeStatus, probe } from '../../grpc/probe.ts';
import type { Spec as GrpcSpec } from '../../grpc/spec.ts';
import { singleLine } from '#kernel/text.ts';
import type { ResponseEvidence } from '../detail.ts';
import type { GatherContext } from './context.ts';

const longestMs = 7_000;

/** The answer to the target's own call: its status and message, or the health that it states. */
export async function gatherGrpcResponse(
  call: GrpcSpec,
  { context, tools: { environment }, redaction }: GatherContext,
): Promise<ResponseEvidence> {
  const answers: GrpcResponse[] = [];
  // With any certificate: what is wrong with it is in another part.
  const tls = typeof call.tls === 'object' ? { ...call.tls, verify: false } : call.tls && { verify: false };
  const spec = { ...call, tls, timeout: Math.min(call.timeout, longestMs) };
  const outcome = await probe(spec, context, environment, (response) => answers.push(response));
  const [answer] = answers;
  const isGood = outcome.status === 'up' || answer !== undefined;
  return {
    status: answer === undefined ? null : singleLine(redaction.text(statusOf(answer)), 300),
    headers: [],
    body: null,
    bodyBytes: answer?.body.length ?? null,
    redirects: [],
    failure: isGood ? null : singleLine(redaction.text(outcome.failure.message)),
  };
}

function statusOf({ httpStatus, code, message, body }: GrpcResponse): string {
  if (httpStatus !== 200) return `HTTP status ${httpStatus}`;
  if (code === null) return 'no grpc-status';
  return code === 0 ? (readResponse(body) ?? 'OK') : describeStatus(code, message);
}
