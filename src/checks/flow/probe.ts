import type { ProbeContext, ProbeEnvironment, Prober } from '../check.ts';
import { expiresAt } from '../certificate.ts';
import { targetOf } from '../http/redirect.ts';
import { loadResponseParser } from '../http/llhttp.ts';
import { failed, type Fact, failure, type Outcome, type Phase } from '../outcome.ts';
import { reach } from '../reach.ts';
import { loadHandshakeReader } from '../tcp-info.ts';
import { CookieJar } from './cookie-jar.ts';
import type { Detail } from './detail.ts';
import { hideAll, secretsOf } from './secrets.ts';
import type { Spec } from './spec.ts';
import { type FlowRun, runStep, type StepResult } from './step.ts';

export async function start(environment: ProbeEnvironment): Promise<Prober<Spec, Detail>> {
  await loadHandshakeReader();
  await loadResponseParser();
  return {
    capability: { able: true },
    probe: async (spec, context) => probe(spec, context, environment),
    close: async () => {},
  };
}

async function probe(spec: Spec, context: ProbeContext, environment: ProbeEnvironment): Promise<Outcome<Detail>> {
  const target = targetOf(spec.host);
  if (typeof target === 'string') throw new TypeError(`host "${spec.host}" ${target}`);
  const { clock } = environment;
  const destination = { name: target.name, family: spec.family, limitMs: spec.timeout, covers: 'check' } as const;
  return reach<Detail>(destination, context, environment, {
    async probe(network) {
      const values = new Map(Object.entries(spec.values));
      const jar = new CookieJar();
      const pins = new Map([[target.name, network.pinned]]);
      const run: FlowRun = { spec, network, environment, jar, values, pins, start: clock.elapsed() };
      const results: StepResult[] = [];
      for (const [index, step] of spec.steps.entries()) {
        const result = await runStep(step, index, run);
        results.push(result);
        if (result.failure !== null) break;
      }
      const secrets = [...secretsOf(spec), ...values.values(), ...jar.values];
      return outcomeOf(results, hideAll(secrets), network.phases.resolve);
    },
  });
}

function outcomeOf(
  results: readonly StepResult[],
  hide: (text: string) => string,
  resolve: number | undefined,
): Outcome<Detail> {
  const phases: Partial<Record<Phase, number>> = resolve === undefined ? {} : { resolve };
  for (const { detail } of results)
    for (const [phase, seconds] of entriesOf(detail.phases)) phases[phase] = round((phases[phase] ?? 0) + seconds);
  const certificate = results.find((one) => one.certificate !== null)?.certificate ?? null;
  const facts: Partial<Record<Fact, number>> =
    certificate === null ? {} : { certificate_expires_at: expiresAt(certificate) };
  const steps = results.map(({ detail }) => ({ ...detail, url: hide(detail.url).slice(0, 200) }));
  const seconds = round(steps.reduce((sum, step) => sum + step.seconds, 0));
  const last = results.at(-1);
  const measured = { seconds, address: last?.address ?? null, phases, facts, detail: { steps, certificate } };
  if (last === undefined || last.failure === null) return { status: 'up', ...measured };
  const { source, code, message } = last.failure;
  const number = String(results.length);
  const { name } = last.detail;
  const which = name === number ? `step ${number}` : `step ${number} (${name})`;
  return failed(failure(source, code, `${which}: ${hide(message)}`), measured);
}

// The keys of a record of phases are phases.
const entriesOf = (phases: Partial<Record<Phase, number>>) =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  Object.entries(phases) as readonly (readonly [Phase, number])[];

const round = (seconds: number) => Math.round(seconds * 1e6) / 1e6;
