import { z } from 'zod';
import { parseJson } from '#kernel/json.ts';
import {
  type Capability,
  checkOf,
  CheckSpec,
  allTypeNames,
  type CheckTypeName,
  failed,
  failure,
  type FailureCode,
  type Outcome,
  unfinishedOutcome,
} from '#checks/index.ts';
import { Losses } from './losses.ts';
import { Process, Range, WatchingState } from './watching.ts';

// What hub and nodes say to each other, as JSON. Keys that a message has besides are of no account, so that a later version
// can add some; what changes the meaning of a message raises the version.

/**
 * The versions of the protocol that this program speaks. What is new in 2: a report tells the capacity of the process, a
 * command for whom it is, a result when its check began. In 3: nodes watch by themselves what they are assigned, and send batches.
 * In 4: a command may name the hub that takes its result.
 */
export const protocolRange: ProtocolRange = [1, 4];
/** From this version on nodes run checks for hubs that do not lead. */
export const followersSince = 4;
export type ProtocolRange = readonly [oldest: number, newest: number];

/** No message is larger, in bytes. */
export const messageLimit = 64 * 1_024;

/** How often a node reports, and after how many missing reports it counts as gone. */
export const reportEveryMs = 5_000;
export const reportsMissed = 3;

const root = 'wp.v1';

/** Where messages about all nodes go. */
export const sharedSubjects = {
  /** Hub to all nodes: it is here, and does not know them yet. */
  hub: `${root}.hub`,
  reports: `${root}.report.*`,
  results: `${root}.result.*`,
  /** Results for one of several hubs, of commands that name it. */
  resultsFor: (hub: string) => `${root}.result.${hub}.*`,
  /** Asks the hub how its nodes are. */
  status: `${root}.status`,
} as const;

/** Where messages to and from the node of this name go. */
export function subjectsOf(node: string) {
  return {
    /**
     * Hub to one process of the node, a request that is answered by `CommandReply`. A process that lost its connection and is back
     * hears the hub at once, though the server may still hold its old connection for alive.
     */
    command: (process: string) => `${root}.command.${node}.${process}`,
    /** Hub to node: this run is cancelled; every process of the node gets it. */
    abort: `${root}.abort.${node}`,
    /** Node to hub, a request that is answered by `Welcome`. */
    report: `${root}.report.${node}`,
    /** Node to hub, answered by `Receipt` once the result is stored. */
    result: `${root}.result.${node}`,
    /** The same to the hub that the command named; `*` for any. */
    resultFor: (hub: string) => `${root}.result.${hub}.${node}`,
    /** The prefix of the subjects for answers to the node's own requests: no other node can read them. */
    inbox: inboxOf(node),
  };
}

/** The prefix of a private inbox. */
export const inboxOf = (owner: string) => `${root}.inbox.${owner}`;

/** Everything that a hub says and hears. */
export const everything = `${root}.>`;

/** The node whose message this is, by the subject that the server let it use. */
export const nodeOfSubject = (subject: string) => subject.slice(subject.lastIndexOf('.') + 1);

/** What a hub says to all nodes. One of an earlier version says nothing. */
export const HubGreeting = z.object({
  /** Within which time nodes report, each at a moment of its own. */
  spreadMs: z.number().min(0).max(5_000),
});
export type HubGreeting = z.output<typeof HubGreeting>;

const Sentence = z.string().max(500).nullable();
// The id of a command; its key is `ticket` on the wire since version 1.
const CommandId = z.string().min(1).max(1_000);
const Count = z.int().min(0);

const AnyCapability = z.discriminatedUnion('able', [
  z.object({
    able: z.literal(true),
    has: z
      .array(z.string().regex(/^[\w.-]{1,64}$/))
      .max(100)
      .optional(),
  }),
  z.object({ able: z.literal(false), reason: z.string().max(500) }),
]);

// Types that only the other side knows are of no account either.
const Capabilities = z.record(z.string(), AnyCapability).transform((all) => {
  const known: Partial<Record<CheckTypeName, Capability>> = {};
  for (const type of allTypeNames) {
    const capability = all[type];
    if (capability !== undefined) known[type] = capability;
  }
  return known;
});

/** How a process of a node is: sent on arrival and, as its heartbeat, every `reportEveryMs`. */
export const Report = z.object({
  protocol: Range,
  /** A name that the process made up when it started. */
  process: Process,
  /** The version of the program. */
  version: z.string().max(64),
  capabilities: Capabilities,
  running: Count,
  queued: Count,
  /** How many commands the process takes on at the same time; a process of the first version does not tell. */
  capacity: z.int().min(1).optional(),
  lagSeconds: z.number().min(0),
  /** Results that the hub has not confirmed yet. */
  spooled: Count,
  /** How far its clock is ahead of the hub's, and how long a question to the hub takes; null until measured. */
  clockOffsetMs: z.number().nullable(),
  roundTripMs: z.number().nullable(),
  /** What it watches by itself; null for nothing, absent if it cannot. */
  watching: WatchingState.nullable().optional(),
  /** What waits for the hub and was not sent on this connection yet. */
  unsent: Count.optional(),
  /** Absent from a process of an earlier version. */
  losses: Losses.optional(),
  /** When the newest of the results that its spool dropped was observed; null or absent if it dropped none. */
  newestDroppedAt: z.number().nullable().optional(),
  /** `joining` before it takes commands, `leaving` for the last report of a process that ends. */
  phase: z.enum(['joining', 'serving', 'leaving']),
});
export type Report = z.output<typeof Report>;

/** The hub's answer to a report. */
export const WelcomeMessage = z.object({
  protocol: Range,
  /** `outdated` and `stranger` are not used, for the reason given. */
  state: z.enum(['welcome', 'outdated', 'stranger']),
  reason: Sentence,
  /** The hub's clock, in milliseconds since the epoch. */
  now: z.number(),
});
export type WelcomeMessage = z.output<typeof WelcomeMessage>;

/** One check for one node. Its id goes back with its result. */
export const CommandMessage = z.object({
  protocol: Range,
  ticket: CommandId,
  spec: z.unknown(),
  policy: z.enum(['public', 'private']),
  deadlineMs: z.int().min(1).max(600_000),
  /** For whom it is: the monitor's checks have room of their own at a node. */
  origin: z.enum(['monitor', 'api']).default('monitor'),
  /** Whether the hub reads interim results of this command; absent from a hub that does not know them. */
  interim: z.boolean().optional(),
  /** Which of several hubs takes the result; absent for the one that leads. Its checks are not stored by nodes. */
  hub: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/)
    .optional(),
});
export type CommandMessage = z.output<typeof CommandMessage>;

/** A node's answer to a command; the result comes later. */
export const CommandReply = z.object({
  protocol: Range,
  process: Process,
  state: z.enum(['accepted', 'busy', 'unsupported']),
  reason: Sentence,
});
export type CommandReply = z.output<typeof CommandReply>;

export const AbortMessage = z.object({ ticket: CommandId });
export type AbortMessage = z.output<typeof AbortMessage>;

/** What became of a command. The same result may come again until a receipt was heard. */
export const Result = z.object({
  protocol: Range,
  ticket: CommandId,
  process: Process,
  outcome: z.unknown(),
  /** When the check began, by the hub's clock in milliseconds since the epoch; absent or null if that is not known. */
  startedAt: z.number().nullish(),
});
export type Result = z.output<typeof Result>;

/**
 * What a check has measured so far, on the subject of results: sent only if the command asked for it, never again, and without an answer.
 */
export const InterimResult = z.object({
  kind: z.literal('interim'),
  ticket: CommandId,
  process: Process,
  detail: z.unknown(),
});
export type InterimResult = z.output<typeof InterimResult>;

/** What the JSON of every interim result begins with, so that it is not taken for a result. */
export const interimBeginning = '{"kind":"interim"';

/** An interim result of a check of this type, or null if it has not that shape. */
export function readInterim(type: CheckTypeName, value: unknown): unknown {
  const { givesInterim, Outcome } = checkOf(type);
  if (!givesInterim) return null;
  const parsed = Outcome.safeParse(unfinishedOutcome(value));
  return parsed.success ? parsed.data.detail : null;
}

/**
 * The hub's answer to a result: kept for good, not wanted and to be forgotten, or (`later`) to be sent again in some seconds. A node of
 * an earlier version does not know `later`, and sends again what has no receipt in time.
 */
export const ResultReceipt = z.object({
  ticket: CommandId,
  state: z.enum(['stored', 'refused', 'later']),
  reason: Sentence,
  /** How many results of a batch that is stored were discarded, for the reason given. */
  discarded: Count.optional(),
  /** How many results the hub skipped because it is overloaded: they are to be forgotten. */
  skipped: Count.optional(),
  /** Which share of its healthy results a node is to send from now on; absent for all of them. */
  grant: z.number().min(0).max(1).optional(),
});
export type ResultReceipt = z.output<typeof ResultReceipt>;

/** The status of the nodes, for holders of the hub's key. */
export const StatusList = z.object({
  nodes: z.array(
    z.object({
      name: z.string(),
      online: z.boolean(),
      reason: z.string().nullable(),
      version: z.string().nullable(),
      processes: Count,
      spooled: Count,
      clockOffsetMs: z.number().nullable(),
      roundTripMs: z.number().nullable(),
      losses: Losses.optional(),
      /** The plugins that it may run; absent from a hub of an earlier version. */
      plugins: z.array(z.string()).optional(),
      /** Whether it sent more within the last minute than the hub reads. */
      isOverBudget: z.boolean().optional(),
      /** What it sent too much of; absent from a hub of an earlier version. */
      overBudget: z.string().nullable().optional(),
    }),
  ),
});
export type StatusList = z.output<typeof StatusList>;

/** Whether this is a check type that the program has. */
export const isCheckType = (name: string): name is CheckTypeName => allTypeNames.some((type) => type === name);

/** The newest version that both speak, or in words which side is too old. */
export function agree(ours: ProtocolRange, theirs: ProtocolRange): { readonly version: number } | string {
  const version = Math.min(ours[1], theirs[1]);
  if (version >= Math.max(ours[0], theirs[0])) return { version };
  const ranges = `it speaks protocol ${theirs.join(' to ')}, this side ${ours.join(' to ')}`;
  return theirs[1] < ours[0] ? `too old: ${ranges}; update it` : `too new: ${ranges}; update this side`;
}

// What details of outcomes came to say, and with which version. An outcome with more than it knows is refused by a hub.
const detailsSince: Readonly<Record<string, number>> = { tls_protocol: 3 };

/** The JSON of a result as a hub reads it that speaks this version of the protocol. */
export function resultFor(version: number, payload: string): string {
  const result = version < protocolRange[1] ? WithDetail.safeParse(parseJson(payload)).data : undefined;
  if (result === undefined) return payload;
  const { detail } = result.outcome;
  const known = Object.entries(detail).filter(([key]) => (detailsSince[key] ?? 0) <= version);
  return JSON.stringify({ ...result, outcome: { ...result.outcome, detail: Object.fromEntries(known) } });
}

const WithDetail = z.looseObject({ outcome: z.looseObject({ detail: z.record(z.string(), z.unknown()) }) });

/** The JSON value of a spec. */
export function encodeSpec(spec: CheckSpec): unknown {
  return z.encode(CheckSpec, spec);
}

/** The spec of a JSON value, or in words why this program does not know it. */
export function decodeSpec(value: unknown): CheckSpec | string {
  const parsed = CheckSpec.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = [...(issue?.path ?? []), issue?.message ?? 'unknown'].join(': ');
  return `this node does not understand the check, its program may be older than that of the hub: ${where}`;
}

/**
 * An outcome that a node sent for a check of this type, or null if it has not that shape. Whose fault a failure is
 * decides the status, whatever the node said, and its message is made safe.
 */
export function readOutcome(type: CheckTypeName, value: unknown): Outcome | null {
  const parsed = checkOf(type).Outcome.safeParse(value);
  if (!parsed.success) return null;
  const outcome = parsed.data;
  if (outcome.status === 'up') return outcome;
  const { status: _status, failure: written, ...known } = outcome;
  return failed(failure(written.source, written.code, written.message), known);
}

/** The outcome of a check that a node could not or would not do. */
export function nodeFault(code: FailureCode, message: string): Outcome {
  return failed(failure('node', code, message));
}
