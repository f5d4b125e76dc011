import { z } from 'zod';
import { failed, failure, type Failure, type NodeInfo, type Outcome } from '#checks/index.ts';
import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import type { Random } from '#kernel/random.ts';
import type { Secret } from '#kernel/secret.ts';
import type { Vote } from '#monitor/judge/vote.ts';
import type { CheckServiceClient, RunRequest, RunResult } from '#monitor/watch/runner.ts';
import { RequestId } from '#protocol/shapes.ts';
import { createDirectory } from './directory.ts';
import { createHttp, type Http } from './http.ts';
import { createNodeList } from './node-list.ts';
import { type PaceBudget, createPace } from './pace.ts';
import { createPoller, limitOf } from './poll.ts';
import { missingNodes, nodeQuery, votersOf } from './selection.ts';

export interface ClientOptions {
  /** The `base_url` of the interface, without a slash at its end. */
  readonly url: string;
  readonly token: Secret | null;
  /** How many checks are started; one on several nodes counts once. */
  readonly budget: PaceBudget;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** What is known of a run that goes on. A node without an outcome still works. */
export interface RunProgress {
  readonly reportUrl: string | null;
  readonly nodes: readonly { readonly node: NodeInfo; readonly outcome: Outcome | null }[];
}

/** What the monitor asks, over any service that speaks the interface. */
export interface Client extends CheckServiceClient {
  /**
   * Rejects with the signal's reason only: whatever the service does wrong is an unknown vote of each node that was asked
   * for. If not even the nodes are known, it is the vote of a node named `zz0`.
   */
  run(request: RunRequest, signal: AbortSignal, onProgress?: (progress: RunProgress) => void): Promise<RunResult>;
  /** Fetches the list of nodes in the background if there is none yet or an old one. */
  keepNodes(): void;
  /** Ends all that goes on. Runs reject. */
  close(): void;
}

const startMs = 15_000;
const limitedPauseMs = 30_000;
const mostNodes = 1_000;

/**
 * Runs checks at another check service:
 *
 * 1. the list of nodes is fetched at first need, every hour, and when nodes turn up that are not in it;
 * 2. a start waits until the budget admits it; while the service wants to be left alone none is admitted;
 * 3. the start is sent once, never repeated;
 * 4. results are polled until every node has finished or the check's limit is over.
 */
export function createClient(options: ClientOptions): Client {
  return clientOver(createHttp(options), options);
}

/** The same over any way to call the service. */
export function clientOver(http: Http, options: Omit<ClientOptions, 'token'>): Client {
  const { url, clock, random, log } = options;
  const closing = new AbortController();
  const directory = createDirectory();
  const list = createNodeList({ http, directory, clock, log, closing: closing.signal });
  const pace = createPace({ budget: options.budget, clock });
  const poller = createPoller({ http, clock, random, onPause: (ms) => pace.pause(ms) });
  let trouble: string | null = null;

  // Told when it begins and when it ends, not at every check.
  function note(reason: Failure | null): void {
    const code = reason?.code ?? null;
    if (code === trouble) return;
    trouble = code;
    if (reason === null) log.info({ service: url }, 'the check service accepts checks again');
    else log.warn({ service: url, code, reason: reason.message }, 'the check service rejects checks');
  }

  async function start({ spec, nodes }: RunRequest, signal: AbortSignal): Promise<StartAnswer | Failure> {
    const query = nodeQuery(nodes, directory);
    if (query === null) return directory.nodes().length === 0 && list.trouble !== null ? list.trouble : noneOfThese;
    const refusal = await pace.admit(`${spec.type} ${spec.host}`, signal);
    if (refusal !== null) return failure('service', 'service_limited', refusal);
    const path = `/check-${spec.type}`;
    const reply = await http.get({ path, query: [['host', spec.host], ...query], timeoutMs: startMs, signal });
    const limited = reply.kind === 'trouble' && reply.failure.code === 'service_limited';
    const pauseMs = reply.pauseMs ?? (limited ? limitedPauseMs : null);
    if (pauseMs !== null) pace.pause(pauseMs);
    if (reply.kind === 'trouble') return reply.failure;
    const started = StartAnswer.safeParse(reply.body);
    if (started.success) return started.data;
    return failure('service', 'service_answer', 'the check service did not confirm the start of the check');
  }

  async function collect(
    { spec, nodes }: RunRequest,
    { request_id: requestId, permanent_link: reportUrl, nodes: descriptors }: StartAnswer,
    signal: AbortSignal,
    onProgress?: (progress: RunProgress) => void,
  ): Promise<RunResult> {
    const ids = Object.keys(descriptors).slice(0, mostNodes);
    if (!ids.every((id) => directory.isKnown(id))) list.outdated();
    const infos = ids.map((id) => [id, directory.meet(id, descriptors[id])] as const);
    const missing = missingNodes(
      nodes,
      infos.map(([, node]) => node),
      directory,
    ).map((node): Vote => ({ node, outcome: failed(notTaken) }));
    const report = (outcomes: ReadonlyMap<string, Outcome>) =>
      onProgress?.({
        reportUrl,
        nodes: [...infos.map(([id, node]) => ({ node, outcome: outcomes.get(id) ?? null })), ...missing],
      });
    report(new Map());
    const check = { requestId, type: spec.type, ids, limitMs: limitOf(spec) };
    const outcomes = await poller.collect(check, signal, onProgress && report);
    const votes = infos.map(([id, node]): Vote => ({ node, outcome: outcomes.get(id) ?? failed(notTaken) }));
    return { votes: [...votes, ...missing], reportUrl };
  }

  return {
    url,
    nodes: () => directory.nodes(),
    keepNodes: () => list.keep(),
    close() {
      closing.abort(new Error('the client of the check service is closed'));
      http.close();
    },
    async run(request, outer, onProgress) {
      const signal = AbortSignal.any([outer, closing.signal]);
      await list.ensure(signal);
      const started = await start(request, signal);
      if (!('code' in started)) {
        note(null);
        return collect(request, started, signal, onProgress);
      }
      note(started);
      const voters = votersOf(request.nodes, directory);
      return { votes: voters.map((node) => ({ node, outcome: failed(started) })), reportUrl: null };
    },
  };
}

const StartAnswer = z.object({
  request_id: RequestId,
  permanent_link: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .nullable()
    .default(null)
    .catch(null),
  /** Descriptors are read one by one: a broken one is a node at an unknown place. */
  nodes: z.record(z.string().max(300), z.unknown()).refine((nodes) => Object.keys(nodes).length > 0),
});
type StartAnswer = z.output<typeof StartAnswer>;

const noneOfThese = failure('service', 'service_answer', 'the check service has none of these nodes');
const notTaken = failure('service', 'service_answer', 'the check service did not give this check to the node');
