import { z } from 'zod';
import { askEngine } from '#checks/index.ts';
import { type Clock, deadline } from '#kernel/clock.ts';
import { readJson } from '#kernel/json.ts';
import { singleLine } from '#kernel/text.ts';
import { groupOf, hostLabel, hostsIn } from './label-groups.ts';

/** A container engine whose containers have labels that name targets. */
export interface EngineSocket {
  readonly kind: 'docker';
  readonly socket: string;
}

type EngineGroups = { readonly text: string } | { readonly trouble: string };

// Of what the engine says, what is used here (Docker Engine API, ContainerList).
const Containers = z.array(
  z.object({
    Names: z.array(z.string()).default([]),
    Labels: z
      .record(z.string(), z.string())
      .nullish()
      .transform((labels) => labels ?? {}),
  }),
);

/**
 * The containers with the label `watchpost.host` as the groups of `http_sd`, one on each line, sorted. Those that do not run are among
 * them: what has ended is to be noticed, not forgotten.
 */
export async function askContainers(
  { socket }: EngineSocket,
  clock: Clock,
  limitMs: number,
  signal: AbortSignal,
): Promise<EngineGroups> {
  using limit = deadline(clock, limitMs, signal);
  const filters = encodeURIComponent(JSON.stringify({ label: [hostLabel] }));
  try {
    const answer = await askEngine(socket, `/containers/json?all=1&filters=${filters}`, limit.signal);
    if ('reason' in answer) return { trouble: answer.reason };
    const containers = answer.status === 200 ? readJson(Containers, answer.text) : null;
    if (containers === null)
      return { trouble: `the engine answered with status ${answer.status}: ${singleLine(answer.text, 100)}` };
    return { text: `[${containers.flatMap(containerGroup).toSorted().join(',\n')}]` };
  } catch (error) {
    signal.throwIfAborted();
    if (!limit.expired) throw error;
    return { trouble: `the engine did not answer within ${limitMs / 1_000} s` };
  }
}

function containerGroup({ Names, Labels }: z.output<typeof Containers>[number]): string[] {
  const name = Names[0]?.replace(/^\//, '') ?? '';
  return groupOf(hostsIn((Labels[hostLabel] ?? '').replaceAll('{name}', name)), Labels, { container: name });
}
