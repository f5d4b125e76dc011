// The JSON of /api/v1/ as types, by themselves: declarations of a package must not need the packages that the program is made of.
// test/contract/service/api-client.test.ts compares them with the schemas in protocol/version-one.ts.

/** A node and its place; what is unknown is empty. */
export interface CheckNode {
  /** Such as `de1.node.watchpost.internal`. */
  readonly id: string;
  /** What stands before the first dot of `id`. */
  readonly name: string;
  readonly country_code: string;
  readonly country: string;
  readonly city: string;
  readonly asn: string;
  readonly ip: string;
}

/** A node and its health. */
export interface NodeHealth extends CheckNode {
  readonly online: boolean;
  /** Why it is not online. */
  readonly reason: string | null;
  readonly running: number;
  readonly queued: number;
  readonly lag_seconds: number;
  readonly capabilities: Readonly<
    Record<string, { readonly able: true } | { readonly able: false; readonly reason: string }>
  >;
}

export type KnownCheckKind =
  | 'ping'
  | 'http'
  | 'tcp'
  | 'dns'
  | 'udp'
  | 'tls'
  | 'grpc'
  | 'websocket'
  | 'postgres'
  | 'mysql'
  | 'redis'
  | 'mongodb'
  | 'mqtt'
  | 'amqp'
  | 'ssh'
  | 'domain'
  | 'traceroute'
  | 'mtr';

/** A type of checks; newer services may have others. */
export type CheckKind = KnownCheckKind | (string & Record<never, never>);

/** A place of nodes: everything that is given must fit. */
export interface CheckLocation {
  /** ISO 3166-1, such as `DE`. */
  readonly country?: string;
  /** Autonomous system, such as 3320. */
  readonly as?: number | string;
  readonly city?: string;
}

/** What to check, how, from where. */
export interface CheckRequest {
  readonly type: CheckKind;
  /** A name, an address, `name:port` or `scheme://name[:port][/path]`. */
  readonly host: string;
  /** The most nodes to ask; 0 or absent: as many as allowed. */
  readonly max_nodes?: number;
  /** The nodes to ask, instead of `max_nodes`; not together with `location`. */
  readonly node?: readonly string[];
  /** Only nodes in one of these places: `country:DE`, `as:3320`, `city:Berlin` or an object. */
  readonly location?: readonly (string | CheckLocation)[];
  /** Options of the type, as in docs/api.md. */
  readonly options?: Readonly<Record<string, unknown>>;
}

export type CheckPhase = 'resolve' | 'connect' | 'proxy' | 'tls' | 'login' | 'query' | 'first_byte' | 'transfer';

/** Why a node has no good outcome. Only the source `target` is downtime. */
export interface OutcomeFailure {
  readonly source: 'target' | 'resolver' | 'node' | 'service' | 'third_party';
  /** From the catalogue in docs/checks.md. */
  readonly code: string;
  readonly message: string;
}

interface OutcomeMeasures {
  /** The figure that the check is about, such as the time to the whole answer, in seconds. */
  readonly seconds: number | null;
  /** The address that was measured. */
  readonly address: string | null;
  /** In seconds. */
  readonly phases: Readonly<Partial<Record<CheckPhase, number>>>;
  readonly facts: Readonly<Record<string, number | undefined>>;
  /** What the type found besides, as the OpenAPI document has it. */
  readonly detail: unknown;
}

/** What a node saw. `unknown`: the node or the service failed, and nothing is known about the target. */
export type CheckOutcome =
  | ({ readonly status: 'up' } & OutcomeMeasures)
  | ({ readonly status: 'down' | 'unknown'; readonly failure: OutcomeFailure } & OutcomeMeasures);

/** A node's result; the outcome is null while the node works. */
export interface CheckNodeResult {
  readonly node: CheckNode;
  readonly outcome: CheckOutcome | null;
  /** What the node has measured so far, in the form of the `detail` of its outcome, for `traceroute` and `mtr` while they run. */
  readonly interim?: unknown;
  /** The outcome, or what has been measured so far, as traceroute(8) or `mtr --report` prints it; for these types only. */
  readonly raw_output?: string;
}

/** A check with its results so far. */
export interface CheckState {
  readonly id: string;
  readonly type: CheckKind;
  readonly host: string;
  readonly port: string | null;
  /** ISO 8601. */
  readonly created_at: string;
  readonly state: 'running' | 'finished';
  readonly report_url: string;
  readonly results: readonly CheckNodeResult[];
}

/** A limit of everyone together. A check costs one for each node. */
export interface CallLimit {
  readonly limit: number;
  readonly window_seconds: number;
}

/** A limit of the caller. */
export interface CallAllowance extends CallLimit {
  readonly remaining: number;
  /** Until nothing of the limit is used. */
  readonly reset_seconds: number;
}

/** What the caller may start. */
export interface CallerLimits {
  readonly max_nodes: number;
  readonly checks: CallAllowance;
  readonly domain: CallAllowance | null;
  readonly per_target: CallLimit;
  readonly per_node: CallLimit;
  readonly overall: CallLimit;
}
