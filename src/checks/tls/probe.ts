import { type Certificate, remainingLifeFailure } from '../certificate.ts';
import type { ProbeEnvironment, ProbeContext } from '../check.ts';
import { endpointOf } from '../endpoint.ts';
import { measureFamilies } from '../families.ts';
import { streamFailure } from '../network-errors.ts';
import { failed, type Failure, failure, type Outcome } from '../outcome.ts';
import { compilePattern } from '../pattern.ts';
import { reach } from '../reach.ts';
import { converse, type Findings } from '../stream/conversation.ts';
import { untilTls } from '../stream/presets.ts';
import type { Step } from '../stream/step.ts';
import { handshakeFailure } from '../tls-connection.ts';
import type { Detail } from './detail.ts';
import { type Spec, tlsPortOf } from './spec.ts';

/** Connects, starts TLS, and judges what the server presents. */
export async function probe(
  spec: Spec,
  context: ProbeContext,
  environment: ProbeEnvironment,
): Promise<Outcome<Detail>> {
  const endpoint = endpointOf(spec.host);
  const { name } = endpoint;
  const { clock } = environment;
  return measureFamilies<Detail>(spec.family, async (family) =>
    reach<Detail>({ name, family, limitMs: spec.timeout, covers: 'check' }, context, environment, {
      probe: async ({ pinned, phases, signal, connect }) =>
        connect(pinned, tlsPortOf(endpoint), async (connection) => {
          const { address } = pinned;
          if (!connection.ok) {
            const { reset, failure: reason } = connection;
            if (reset === null) return failed(reason, { address, phases });
            const fault = stepsOf(spec)[0]?.do === 'starttls' ? handshakeFailure : streamFailure;
            return failed(fault(reset.error), { address, phases: { ...phases, connect: reset.seconds } });
          }
          const findings: Findings = {
            phases: { ...phases, connect: connection.seconds },
            facts: {},
            detail: { answer: null, tls: null },
          };
          const wrong = await converse(stepsOf(spec), connection.socket, {
            tls: spec,
            name,
            findings,
            clock,
            signal,
            wantsStaple: spec.expect.stapled === true,
          });
          return conclude(spec, wrong, address, findings, clock.now());
        }),
    }),
  );
}

function stepsOf({ starttls }: Spec): readonly Step[] {
  return (starttls === undefined ? null : untilTls(starttls)) ?? [{ do: 'starttls' }];
}

function conclude(
  spec: Spec,
  wrong: Failure | null,
  address: string,
  { phases, facts, detail: { tls } }: Findings,
  now: number,
): Outcome<Detail> {
  const found = { address, phases, facts, detail: { tls } };
  const seconds = phases.tls ?? null;
  const reason = wrong ?? mismatch(spec.expect, tls?.certificate ?? null, now);
  if (reason !== null || seconds === null) {
    return failed(reason ?? failure('target', 'tls', 'there was no handshake'), { seconds, ...found });
  }
  return { status: 'up', seconds, ...found };
}

function mismatch(expected: Spec['expect'], certificate: Certificate | null, now: number): Failure | null {
  if (certificate === null) return null;
  const { valid_for, issuer, fingerprint } = expected;
  if (issuer !== undefined && !compilePattern(issuer).test(certificate.issuer)) {
    return failure('target', 'answer', `the certificate was issued by ${certificate.issuer}, expected /${issuer}/`);
  }
  if (fingerprint !== undefined && plainHex(fingerprint) !== plainHex(certificate.fingerprint)) {
    return failure('target', 'answer', `the certificate's fingerprint is ${certificate.fingerprint}`);
  }
  return valid_for === undefined ? null : remainingLifeFailure(certificate, valid_for, now);
}

function plainHex(text: string): string {
  return text.replaceAll(':', '').toLowerCase();
}
