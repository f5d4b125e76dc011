import type { z } from 'zod';
import type { Clock } from '#kernel/clock.ts';
import type { Random } from '#kernel/random.ts';
import type { Gate } from './gate.ts';
import type { EvidencePlan } from './evidence/plan.ts';
import type { MeasuredValue } from './measured-value.ts';
import type { Fact, Outcome, Phase } from './outcome.ts';
import type { ProbeFinding } from './as-probe.ts';
import type { Certificate } from './certificate.ts';
import { arrivalTimes, loadHandshakeReader } from './tcp-info.ts';

/** A setting of a node that names a socket which checks ask. */
export type SocketSetting = 'docker_socket' | 'systemd_socket';

/** What a node gives its check types when it starts them. */
export interface ProbeEnvironment {
  readonly clock: Clock;
  readonly random: Random;
  /** Source addresses to probe from, per family; absent means the system's choice. */
  readonly localAddress: { readonly 4?: string; readonly 6?: string };
  /** The file of AS names for hops of paths (ip2asn format), read when it is first needed; absent if there is none. */
  readonly asnFile?: string | undefined;
  /** The unix socket of the container engine that the node may ask; absent if there is none. */
  readonly dockerSocket?: string | undefined;
  /** The unix socket of the message bus over which the node may ask systemd; absent if there is none. */
  readonly systemdSocket?: string | undefined;
  /** The programs that the node may run as plugins, each with its arguments, by name; absent if there are none. */
  readonly plugins?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** What one probe gets besides its spec. */
export interface ProbeContext {
  /** Resolves names and judges addresses under the policy of this very command. */
  readonly gate: Gate;
  /** Aborted at the node's hard deadline, or when the check is cancelled. */
  readonly signal: AbortSignal;
  /** The outcome is not urgent: it may come a tenth of a second later if that saves a wake-up. */
  readonly isPatient?: boolean | undefined;
  /** Takes what has been measured so far, in the shape of `Detail`; absent if it is not wanted. */
  readonly onInterim?: ((detail: unknown) => void) | undefined;
  /** Takes the last response to an http check; absent if it is not wanted. */
  readonly onResponse?: ((response: WholeResponse) => void) | undefined;
}

/** A response as it came, whatever was expected of it. */
export interface WholeResponse {
  readonly status: number;
  /** The values of a header by its lowercase name, in the order they came. */
  readonly valuesOf: (name: string) => readonly string[];
  /** Decompressed; null if it could not be read to its end. */
  readonly body: Buffer | null;
  /** False if the body is longer than `max_body`. */
  readonly isComplete: boolean;
  /** Where it came from. */
  readonly address: string | null;
  /** From the start of name resolution until the headers were there. */
  readonly headSeconds: number;
  /** When it was there, in milliseconds since the epoch. */
  readonly receivedAt: number;
  /** In milliseconds since the epoch; null without TLS. */
  readonly certificateExpiresAt: number | null;
}

/** Whether a node can run a check type: found out by trying, with the remedy if it cannot. */
export type Capability =
  | {
      readonly able: true;
      /** Where that depends on the check: what of the type the node can do, by name. */
      readonly has?: readonly string[] | undefined;
    }
  | { readonly able: false; readonly reason: string };

/** A check type that was started on a node: what `start` in the `probe.ts` of its folder gives. */
export interface Prober<Spec, Detail> {
  readonly capability: Capability;
  /**
   * Which times the kernel knows, whatever holds up this thread: all of them, or when something came on a connection. There is no need
   * to measure closely for how long it is held up then.
   */
  readonly timedByKernel?: 'all' | 'arrivals' | undefined;
  /**
   * Runs one check and never rejects for what the target or the network did: that is the outcome. A probe that was
   * aborted rejects with the signal's reason. Nothing it opened outlives it.
   */
  probe(spec: Spec, context: ProbeContext): Promise<Outcome<Detail>>;
  close(): Promise<void>;
}

/** How a type starts that needs nothing to be opened beforehand and can be run on every node. */
export function startPlain<Spec, Detail>(
  probe: (spec: Spec, context: ProbeContext, environment: ProbeEnvironment) => Promise<Outcome<Detail>>,
): (environment: ProbeEnvironment) => Promise<Prober<Spec, Detail>> {
  return async (environment) => {
    // The first check must not pay for it.
    await loadHandshakeReader();
    return {
      capability: { able: true },
      probe: async (spec, context) => probe(spec, context, environment),
      close: async () => {},
    };
  };
}

/** The same for a type all of whose times end with something that comes on a connection. */
export function startOverTcp<Spec, Detail>(
  ...[probe]: Parameters<typeof startPlain<Spec, Detail>>
): ReturnType<typeof startPlain<Spec, Detail>> {
  const start = startPlain(probe);
  return async (environment) => ({ ...(await start(environment)), timedByKernel: await arrivalTimes() });
}

/** One figure, or a list of what was found. */
export type Cell = string | readonly string[];

/** What a table of outcomes has besides state, time and address. */
export interface OutcomeTable<Detail> {
  /** What a node did whose outcome is up, as the end of a sentence: "6 of 8 nodes ...". */
  readonly did: string;
  readonly columns: readonly string[];
  /** One for each column; empty if an outcome has none. */
  cells(outcome: Outcome<Detail>): readonly Cell[];
}

/** What is expected of a job that sends pings. */
export interface HeartbeatSettings {
  /** The SHA-256 of the secret that it calls with, in small hexadecimal digits; null until the file with the secret was read. */
  readonly secretHash: string | null;
  /** How late a ping may be. */
  readonly graceMs: number;
  /** How long a run may take, or null. */
  readonly maxRuntimeMs: number | null;
}

/** What a program would print besides its findings. */
export interface RawOutputContext<Spec> {
  readonly spec: Spec;
  /** The name of the node. */
  readonly node: string;
}

/** Whose rows: those of the interface, or those of the public service if it differs. */
export type Dialect = 'interface' | 'check-host.net';

/** How the interface writes the results of a type. */
export interface RowForm<Detail> {
  /** What `toRow` gives, for the API document. Readers take more. */
  readonly shape: z.ZodType;
  /** A node's result in the shape of section 2.7; only for outcomes whose fault, if any, is the target's. */
  toRow(outcome: Outcome<Detail>, dialect?: Dialect): unknown;
  /** The outcome that a row tells; null if the row cannot be read. */
  fromRow(row: unknown): Outcome<Detail> | null;
}

/**
 * A check type: everything that the program knows about it besides how it is probed, which only nodes need: `start` in its `probe.ts`.
 * A type is one folder, one line in `index.ts` and one in `node-types.ts`; nothing else in the program names it.
 */
export interface CheckType<
  Type extends string,
  SpecSchema extends z.ZodObject,
  DetailSchema extends z.ZodType,
  Row extends RowForm<z.output<DetailSchema>> | null,
> {
  readonly type: Type;
  /** One sentence for help texts and the API document. */
  readonly summary: string;
  /**
   * A strict object of `type`, `host` and the type's options, all with defaults. `host` takes every form that section 4.1
   * of the interface names and normalises to the recorded form; parsing an encoded spec again gives the same spec.
   */
  readonly Spec: SpecSchema;
  readonly Detail: DetailSchema;
  /** The schemes that the host of a configured target may have; absent if any only lends its port. */
  readonly schemes?: readonly string[];
  /** Options that name a file without ending in `_file`. Nodes read no files. */
  readonly files?: readonly (readonly string[])[];
  readonly phases: readonly Phase[];
  readonly facts: readonly Fact[];
  /** How long a probe of this spec may take at the most, name resolution included, in milliseconds. */
  deadlineMs(spec: z.output<SpecSchema>): number;
  /**
   * The options that callers of `/api/v1/` may give: those of `Spec`, or narrower ones, that are safe in the hands of strangers. A strict
   * object whose output for no options is the defaults. Absent: none.
   */
  readonly apiOptions?: z.ZodObject;
  /**
   * Each check asks a third party that limits its callers, such as a registry: strangers have a limit of their own for this type, so
   * that they do not use up what targets need.
   */
  readonly hasOwnLimit?: true;
  /** Each check sends many packets: a node runs only a few that were started over the API at the same time. */
  readonly sendsMany?: true;
  /** Probes pass on what they have measured so far to `onInterim`, a few times a second at the most. */
  readonly givesInterim?: true;
  /** What the usual program for such checks would print, for callers of `/api/v1/`; absent if there is none. */
  readonly rawOutput?: (
    outcome: Outcome<z.output<DetailSchema>>,
    run: RawOutputContext<z.output<SpecSchema>>,
  ) => string;
  /** Each check signs in to a server, which may lock accounts or addresses for it: strangers may not start any. */
  readonly signsIn?: true;
  /** Hosts besides `host` that a check of this spec asks, in the form of a `Host`; absent if there are none. */
  otherHosts?(spec: z.output<SpecSchema>): readonly string[];
  /** Options of a check that is started over the API, if they differ from the defaults. */
  readonly overApi?: Partial<z.input<SpecSchema>>;
  /** What is gathered about a target of this spec when it fails; null or absent if there is nothing to gather. */
  readonly evidence?: (spec: z.output<SpecSchema>) => EvidencePlan | null;
  /** The program itself starts checks of this type; it is in no list that people choose from. */
  readonly isInternal?: true;
  /** Only targets of the configuration have checks of this type: none is started by hand or over the API. */
  readonly isForTargets?: true;
  /** Which of the `has` of a node's capability a check of this spec takes; absent if a node that is able can do all. */
  readonly needs?: (spec: z.output<SpecSchema>) => string;
  /** The setting of a node that names the socket which such checks ask; absent if they take a plugin or nothing. */
  readonly needsSocket?: SocketSetting;
  /** The port that section 2.6 records besides the host, or null for types that record none. */
  port(spec: z.output<SpecSchema>): string | null;
  /** What is expected of a target that sends pings; absent if nodes check it. */
  readonly heard?: (spec: z.output<SpecSchema>) => HeartbeatSettings;
  /** What an outcome says that can be compared from round to round, in any order; absent if a type has no such thing. */
  readonly answers?: (outcome: Outcome<z.output<DetailSchema>>) => readonly string[] | null;
  /** Figures that an outcome gives names of its own; absent if a type has no such thing. */
  readonly values?: (outcome: Outcome<z.output<DetailSchema>>) => readonly MeasuredValue[];
  /** What a TLS server presented; absent if a type never sees a certificate. */
  readonly certificate?: (outcome: Outcome<z.output<DetailSchema>>) => Certificate | null;
  /** What was found in the words of blackbox_exporter; absent if it has no such probe. */
  readonly asProbe?: (outcome: Outcome<z.output<DetailSchema>>) => readonly ProbeFinding[];
  /** What was found besides what every outcome has, for people: lines without an end, some with columns. */
  lines(outcome: Outcome<z.output<DetailSchema>>): readonly string[];
  /** How outcomes stand in a table for people; absent where state, time and address say it all. */
  readonly table?: OutcomeTable<z.output<DetailSchema>>;
  /**
   * The outcome for clients that may reach public addresses only: without facts about the node's own network.
   * Absent if the type reports about the target alone. The failure is redacted for all types.
   */
  readonly forStrangers?: (outcome: Outcome<z.output<DetailSchema>>) => Outcome<z.output<DetailSchema>>;
  /** Null for a type that the interface does not know: it is run by targets, by the command line and by `/api/v1/`. */
  readonly row: Row;
}

/** Declares a check type with its schemas' types inferred. */
export function defineCheck<
  Type extends string,
  SpecSchema extends z.ZodObject,
  DetailSchema extends z.ZodType,
  Row extends RowForm<z.output<DetailSchema>> | null,
>(check: CheckType<Type, SpecSchema, DetailSchema, Row>): CheckType<Type, SpecSchema, DetailSchema, Row> {
  return check;
}
