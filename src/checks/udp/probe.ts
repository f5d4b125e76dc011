import type { Clock } from '#kernel/clock.ts';
import { describeDuration } from '#kernel/units.ts';
import { type ProbeEnvironment, type ProbeContext, startPlain } from '../check.ts';
import { converse, type DatagramArrival } from '../datagram.ts';
import { endpointOf, portOf } from '../endpoint.ts';
import type { Gate } from '../gate.ts';
import { failed, failure, type Failure, type Outcome, toSeconds } from '../outcome.ts';
import { matcherOf } from '../payload.ts';
import { reach, type ProbeDestination } from '../reach.ts';
import type { Detail } from './detail.ts';
import { offsetText } from './lines.ts';
import { type Preset, presetAt, presets } from './presets.ts';
import { isUdpPreset, payloadBytes } from './payload.ts';
import { meaningOfSilence } from './silence.ts';
import type { Spec } from './spec.ts';

export const start = startPlain(probe);

/** Sends up to three datagrams to the spec's port and waits for the first proper reply; it never answers one. */
async function probe(spec: Spec, context: ProbeContext, environment: ProbeEnvironment): Promise<Outcome<Detail>> {
  const endpoint = endpointOf(spec.host);
  const destination = { name: endpoint.name, limitMs: spec.timeout, covers: 'name' } as const;
  return reach<Detail>(destination, context, environment, {
    probe: async (site) => exchangeDatagrams(spec, portOf(endpoint), site, context.gate, environment),
  });
}

async function exchangeDatagrams(
  spec: Spec,
  port: number,
  { pinned, phases, signal }: ProbeDestination,
  gate: Gate,
  environment: ProbeEnvironment,
): Promise<Outcome<Detail>> {
  const language = languageOf(spec, port);
  const requests: Buffer[] = [];
  const improper: Buffer[] = [];
  const conversation = await converse<UdpReply>(
    { address: pinned.address, family: pinned.family, port },
    {
      clock: environment.clock,
      signal,
      localAddress: environment.localAddress[pinned.family],
      sendAtMs: Array.from({ length: spec.tries }, (_, index) => (index * spec.timeout) / spec.tries),
      timeoutMs: spec.timeout,
      verify: (ends) => gate.verify(pinned, ends),
      make() {
        const request = language.preset === null ? language.bytes : language.preset.make(environment.random);
        requests.push(request);
        return request;
      },
      read(datagram, received) {
        const reply = readReply(spec, language, datagram, requests, received, environment.clock);
        if (reply === null) improper.splice(0, 1, datagram);
        return reply;
      },
    },
  );
  const known = { address: pinned.address, phases, facts: {} };
  const detail = { ...noReply, sent: conversation.sent };
  switch (conversation.kind) {
    case 'failed':
      return failed(conversation.failure, { ...known, detail });
    case 'reply': {
      const { seconds, datagram, note, offset } = conversation.reply;
      const facts = offset === null ? {} : { clock_offset: offset };
      const found = { ...known, seconds, facts, detail: { ...detail, ...replyDetail(datagram), note } };
      const reason = offsetFailure(spec, conversation.reply);
      return reason === null ? { status: 'up', ...found } : failed(reason, found);
    }
    case 'silent': {
      const [junk] = improper;
      return junk === undefined
        ? noReplyOutcome(spec, { ...known, detail })
        : failed(unexpectedReplyFailure(spec), { ...known, detail: { ...detail, ...replyDetail(junk) } });
    }
  }
}

const noReply: Detail = { replied: false, sent: null, bytes: null, reply: null, note: null };
const keptBytes = 512;

interface UdpReply {
  readonly seconds: number;
  readonly datagram: Buffer;
  readonly note: string | null;
  /** How far the target's clock is ahead of the node's, in seconds, if its protocol tells. */
  readonly offset: number | null;
}

// What is said, and whether only a proper reply in the preset's protocol counts.
type Language =
  | { readonly preset: Preset; readonly strict: boolean }
  | { readonly preset: null; readonly strict: false; readonly bytes: Buffer };

function languageOf({ send }: Spec, port: number): Language {
  if (send === undefined) {
    const preset = presetAt(port);
    return preset === null ? { preset, strict: false, bytes: Buffer.from('\r\n\r\n') } : { preset, strict: false };
  }
  if (isUdpPreset(send)) return { preset: presets[send], strict: true };
  return { preset: null, strict: false, bytes: payloadBytes(send) };
}

// A reply to a request of its own is timed from that one. If all requests are alike it is timed from the first, so that
// no time comes out better than it was.
function readReply(
  { expect }: Spec,
  { preset, strict }: Language,
  datagram: Buffer,
  requests: readonly Buffer[],
  { sentAt, receivedAt }: DatagramArrival,
  clock: Clock,
): UdpReply | null {
  const kept = datagram.subarray(0, keptBytes);
  const notes = requests.map((request) => preset?.recognise(datagram, request) ?? null);
  const answered = notes.findIndex((note) => note !== null);
  if (strict && answered === -1) return null;
  if (expect !== undefined && !matcherOf(expect)(kept)) return null;
  const start = sentAt[Math.max(answered, 0)] ?? receivedAt;
  const note = notes[answered] ?? null;
  const wall = clock.now() - clock.elapsed();
  const offset = note === null ? null : (preset?.offsetOf?.(datagram, wall + start, wall + receivedAt) ?? null);
  return { seconds: toSeconds(receivedAt - start), datagram, note, offset };
}

// The measured offset is wrong by at most half of the round trip (RFC 5905, section 8): only what is beyond that is certain.
function offsetFailure({ offset_below: limit }: Spec, { offset, note, seconds }: UdpReply): Failure | null {
  if (limit === undefined) return null;
  if (offset === null) return failure('target', 'answer', `the server does not tell the time: ${note}`);
  if (Math.abs(offset) - seconds / 2 < limit / 1e3) return null;
  const wanted = `expected less than ${describeDuration(limit)}`;
  return failure('target', 'answer', `the server's clock is ${offsetText(offset)} the node's, ${wanted}`);
}

function replyDetail(datagram: Buffer): Pick<Detail, 'replied' | 'bytes' | 'reply'> {
  return { replied: true, bytes: datagram.length, reply: datagram.subarray(0, keptBytes).toString('base64') };
}

function unexpectedReplyFailure({ expect, send }: Spec): Failure {
  if (!isUdpPreset(send)) return failure('target', 'body', 'the reply does not contain what is expected');
  const also = expect === undefined ? '' : ' with what is expected in it';
  return failure('target', 'protocol', `the reply is no proper ${send} answer${also}`);
}

type UdpOutcomeBase = Pick<Outcome<Detail>, 'address' | 'phases' | 'facts'> & { readonly detail: Detail };

function noReplyOutcome(spec: Spec, known: UdpOutcomeBase): Outcome<Detail> {
  const after = `after ${known.detail.sent} datagrams in ${describeDuration(spec.timeout)}`;
  switch (meaningOfSilence(spec)) {
    case 'up':
      return { status: 'up', seconds: 0, ...known };
    case 'down':
      return failed(failure('target', 'silent', `no reply ${after}`), known);
    case 'unknown': {
      const reason = failure('target', 'silent', `no reply ${after}: open, or filtered`);
      return { ...known, status: 'unknown', seconds: null, failure: reason };
    }
  }
}
