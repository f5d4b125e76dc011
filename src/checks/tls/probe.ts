import type { X509Certificate } from 'node:crypto';
import { type Certificate, remainingLifeFailure } from '../certificate.ts';
import { type ProbeContext, type ProbeEnvironment, type Prober, startOverTcp } from '../check.ts';
import { endpointOf } from '../endpoint.ts';
import { measureFamilies } from '../families.ts';
import { streamFailure } from '../network-errors.ts';
import { failed, type Failure, failure, type Outcome } from '../outcome.ts';
import { compilePattern } from '../pattern.ts';
import { type Network, reach, within } from '../reach.ts';
import { createRevocationLookup, type RevocationLookup } from '../revocation/revocation.ts';
import { converse, type Findings } from '../stream/conversation.ts';
import { untilTls } from '../stream/presets.ts';
import type { Step } from '../stream/step.ts';
import { handshakeFailure } from '../tls-connection.ts';
import type { Detail } from './detail.ts';
import type { Spec } from './spec.ts';
import { tlsPortOf } from './port.ts';

/** Starts with nothing known: what issuers say about certificates is kept for all checks of the node. */
export async function start(environment: ProbeEnvironment): Promise<Prober<Spec, Detail>> {
  const revocations = createRevocationLookup(environment);
  return startOverTcp<Spec, Detail>(async (spec, context) => probe(spec, context, environment, revocations))(
    environment,
  );
}

/** Connects, starts TLS, and judges what the server presents; then asks whether it was revoked, if that is wished. */
async function probe(
  spec: Spec,
  context: ProbeContext,
  environment: ProbeEnvironment,
  revocations: RevocationLookup,
): Promise<Outcome<Detail>> {
  const { clock } = environment;
  const start = clock.elapsed();
  const chains: (readonly X509Certificate[])[] = [];
  const onChain =
    spec.expect.not_revoked === true ? (chain: readonly X509Certificate[]) => void chains.push(chain) : undefined;
  const outcome = await handshake(spec, context, environment, onChain);
  if (outcome.status !== 'up' || onChain === undefined) return outcome;
  const limitMs = Math.max(1, spec.timeout - (clock.elapsed() - start));
  const { family } = spec;
  const reason = await within(
    { limitMs, ...(family === 'both' ? {} : { family }) },
    context,
    environment,
    async (network) => {
      for (const chain of chains) {
        const wrong = await revocationOf(chain, revocations, network);
        if (wrong !== null) return wrong;
      }
      return null;
    },
  );
  if (reason === null) return outcome;
  const { seconds, address, phases, facts, detail } = outcome;
  return failed(reason, { seconds, address, phases, facts, detail });
}

async function revocationOf(
  [leaf, issuer]: readonly X509Certificate[],
  revocations: RevocationLookup,
  network: Network,
): Promise<Failure | null> {
  if (leaf === undefined || issuer === undefined)
    return failure('target', 'answer', 'whether the certificate was revoked cannot be asked: the issuer is not known');
  return revocations.failureOf({ leaf, issuer }, network);
}

async function handshake(
  spec: Spec,
  context: ProbeContext,
  environment: ProbeEnvironment,
  onChain: ((chain: readonly X509Certificate[]) => void) | undefined,
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
            arrivedAt: connection.arrivedAt,
            signal,
            wantsStaple: spec.expect.stapled === true,
            onChain,
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
