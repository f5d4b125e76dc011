import { z } from 'zod';
import { onceFor } from '#kernel/once-for.ts';
import type { ProbeFinding } from './as-probe.ts';
import type { HeartbeatSettings, OutcomeTable, RawOutputContext, RowForm, SocketSetting } from './check.ts';
import { concealFailure } from './conceal.ts';

export { concealAddresses } from './conceal.ts';
import { amqp } from './amqp/index.ts';
import { dns } from './dns/index.ts';
import { docker } from './docker/index.ts';
import { domain } from './domain/index.ts';
import { evidenceBy } from './evidence/index.ts';
import type { EvidencePlan } from './evidence/plan.ts';
import { flow } from './flow/index.ts';
import { heartbeat } from './heartbeat/index.ts';
import { grpc } from './grpc/index.ts';
import { http } from './http/index.ts';
import type { Fact, Outcome, Phase } from './outcome.ts';
import { outcomeOf } from './outcome-schemas.ts';
import { mtr } from './mtr/index.ts';
import { mongodb } from './mongodb/index.ts';
import { mqtt } from './mqtt/index.ts';
import type { MeasuredValue } from './measured-value.ts';
import { mysql } from './mysql/index.ts';
import { ping } from './ping/index.ts';
import { plugin } from './plugin/index.ts';
import { postgres } from './postgres/index.ts';
import { redis } from './redis/index.ts';
import { ssh } from './ssh/index.ts';
import { systemd } from './systemd/index.ts';
import { tcp } from './tcp/index.ts';
import type { Certificate } from './certificate.ts';
import { tls } from './tls/index.ts';
import { traceroute } from './traceroute/index.ts';
import { udp } from './udp/index.ts';
import { websocket } from './websocket/index.ts';

export { addressRules, type AddressFamily, addressObjection, type Policy } from './address.ts';
export { AddressRange } from './address-range.ts';
export { askEngine } from './docker/engine.ts';
export { probeFindings } from './as-probe.ts';
export type {
  Capability,
  Dialect,
  HeartbeatSettings,
  ProbeEnvironment,
  ProbeContext,
  SocketSetting,
  WholeResponse,
} from './check.ts';
export { formatHostPort, parseEndpoint } from './endpoint.ts';
export { type Conclusion, conclude } from './evidence/conclusions.ts';
export { EvidenceDocument } from './evidence/detail.ts';
export { warmUpDocument } from './evidence/warm-up.ts';
export { familyTimes } from './families.ts';
export type { Gate } from './gate.ts';
export { NodeInfo, type NodeSelection, ownNodeName, shownNode } from './node-info.ts';
export { failed, failure, unfinishedOutcome } from './outcome.ts';
export { Failure, FailureCode, FailureSource } from './outcome-schemas.ts';
export type { Outcome, Phase, UpOutcome } from './outcome.ts';
export { countTimes, isSameButForTimes, putTimes, withoutTimes, withPartsOf, withTimes } from './outcome-times.ts';
export type { MeasuredValue } from './measured-value.ts';
export { PatternText } from './pattern-schema.ts';
export { PluginCommands } from './plugin/command-schemas.ts';
export { isAlerting, parseThresholdRange } from './threshold-range.ts';
export { ThresholdText } from './threshold-text.ts';
export { createResolver, type Resolver } from './resolver.ts';
export { lookUpServices } from './service-records.ts';

const evidence = evidenceBy(planOf);

/** THE list: everything that the program knows about check types comes from here. */
export const checks = [
  ping,
  http,
  tcp,
  dns,
  udp,
  tls,
  grpc,
  websocket,
  postgres,
  mysql,
  redis,
  mongodb,
  mqtt,
  amqp,
  ssh,
  domain,
  traceroute,
  mtr,
  flow,
  plugin,
  docker,
  systemd,
  heartbeat,
  evidence,
] as const;

type SpecsOf<List> = { [Index in keyof List]: List[Index] extends { readonly Spec: infer Spec } ? Spec : never };
// Sound because `map` keeps order and length; the library's type of it does not say so.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const specs = checks.map((check) => check.Spec) as unknown as SpecsOf<typeof checks>;

/** What to check: one of the types with its own options. */
export const CheckSpec = z.discriminatedUnion('type', specs);
export type CheckSpec = z.output<typeof CheckSpec>;
export type CheckTypeName = CheckSpec['type'];

/** All types, those that only the program itself starts included. */
export const allTypeNames: readonly CheckTypeName[] = checks.map((check) => check.type);

/** The types that people choose from. */
export const checkTypeNames: readonly CheckTypeName[] = checks.flatMap((check) =>
  'isInternal' in check ? [] : [check.type],
);

/** The types of `checkTypeNames` that nodes run; targets of the others send pings. */
export const probedTypeNames: readonly CheckTypeName[] = checks.flatMap((check) =>
  'heard' in check || 'isInternal' in check ? [] : [check.type],
);

/** Those of `probedTypeNames` that can be started by hand and over the API. */
export const startableTypeNames: readonly CheckTypeName[] = checks.flatMap((check) =>
  'heard' in check || 'isInternal' in check || 'isForTargets' in check ? [] : [check.type],
);

/** All types that nodes run. */
export const nodeTypeNames: readonly CheckTypeName[] = checks.flatMap((check) =>
  'heard' in check ? [] : [check.type],
);

/** Those that the interface knows. */
export const interfaceTypeNames = checks.flatMap((check) => (check.row === null ? [] : [check.type]));

/** A check type with its own spec and detail out of sight: what shared code handles. */
export interface AnyCheck {
  readonly type: CheckTypeName;
  readonly summary: string;
  readonly Spec: z.ZodObject;
  readonly Detail: z.ZodType;
  readonly Outcome: z.ZodType<Outcome>;
  readonly schemes: readonly string[] | null;
  readonly files: readonly (readonly string[])[];
  readonly phases: readonly Phase[];
  readonly facts: readonly Fact[];
  deadlineMs(spec: CheckSpec): number;
  readonly apiOptions: z.ZodObject;
  readonly hasOwnLimit: boolean;
  readonly sendsMany: boolean;
  readonly givesInterim: boolean;
  readonly rawOutput: ((outcome: Outcome, run: RawOutputContext<CheckSpec>) => string) | null;
  readonly signsIn: boolean;
  otherHosts(spec: CheckSpec): readonly string[];
  readonly overApi: Readonly<Record<string, unknown>>;
  /** Whether the program itself starts its checks, so that it is in no list that people choose from. */
  readonly isInternal: boolean;
  /** What is gathered about a target when it fails; null if there is nothing to gather. */
  evidence(spec: CheckSpec): EvidencePlan | null;
  /** Whether no check of this type is started by hand or over the API. */
  readonly isForTargets: boolean;
  readonly needs: ((spec: CheckSpec) => string) | null;
  readonly needsSocket: SocketSetting | null;
  port(spec: CheckSpec): string | null;
  readonly heard: ((spec: CheckSpec) => HeartbeatSettings) | null;
  readonly answers: ((outcome: Outcome) => readonly string[] | null) | null;
  readonly values: ((outcome: Outcome) => readonly MeasuredValue[]) | null;
  readonly certificate: ((outcome: Outcome) => Certificate | null) | null;
  readonly asProbe: ((outcome: Outcome) => readonly ProbeFinding[]) | null;
  lines(outcome: Outcome): readonly string[];
  /** Without anything of the node's own network. */
  readonly forStrangers: (outcome: Outcome) => Outcome;
  readonly table: OutcomeTable<unknown>;
  readonly row: RowForm<unknown> | null;
}

const noOptions = z.strictObject({});
const same = (outcome: Outcome) => outcome;

// Only outcomes from other processes are read by their shapes.
const outcomeShapeOf = onceFor((detail: z.ZodType) => outcomeOf(detail));

const byType: ReadonlyMap<string, AnyCheck> = new Map(
  checks.map((check) => {
    // Sound because every caller picks the check by the type of the very spec or outcome that it hands over.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const erased = {
      answers: null,
      apiOptions: noOptions,
      asProbe: null,
      certificate: null,
      files: [],
      hasOwnLimit: false,
      sendsMany: false,
      signsIn: false,
      givesInterim: false,
      rawOutput: null,
      heard: null,
      schemes: null,
      forStrangers: same,
      otherHosts: () => [],
      evidence: () => null,
      isInternal: false,
      isForTargets: false,
      needs: null,
      needsSocket: null,
      values: null,
      overApi: {},
      table: { did: 'are up', columns: [], cells: () => [] },
      ...check,
    } as unknown as AnyCheck;
    return [
      check.type,
      {
        ...erased,
        forStrangers: (outcome) => concealFailure(erased.forStrangers(outcome)),
        get Outcome() {
          return outcomeShapeOf(check.Detail);
        },
      },
    ];
  }),
);

/** The check type of a name out of THE list. */
export function checkOf(type: CheckTypeName): AnyCheck {
  const check = byType.get(type);
  if (check === undefined) throw new RangeError(`no check type "${type}"`);
  return check;
}

/** The plan for gathering evidence about an encoded spec, or why there is none. */
function planOf(of: Readonly<Record<string, unknown>>): EvidencePlan | string {
  const check = typeof of['type'] === 'string' ? byType.get(of['type']) : undefined;
  // Nodes do not run what is heard of, and nothing is gathered about gathering.
  const isProbed = check !== undefined && check.heard === null && !check.isInternal;
  const read = isProbed ? check.Spec.safeParse(of) : null;
  if (!isProbed || read?.success !== true) return 'this node cannot read the spec of the target';
  // Sound because the spec is what this very type has parsed.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return check.evidence(read.data as CheckSpec) ?? `there is no evidence of type ${check.type}`;
}
