import { z } from 'zod';
import { EvidenceDocument } from '#checks/index.ts';
import { singleLine } from '#kernel/text.ts';
import { formatSeconds } from '#kernel/units.ts';
import { ask, type DaemonOptions } from '../shared/ask.ts';
import { alignRows } from '../shared/table.ts';
import type { CommandContext } from '../shared/command-context.ts';

const Gathered = z.object({
  target: z.string(),
  incident: z.string().nullable(),
  evidence: z.array(
    z.object({
      conclusions: z.array(z.object({ text: z.string() })),
      nodes: z.array(
        z.object({
          node: z.string(),
          is_failing: z.boolean(),
          document: EvidenceDocument.nullable(),
          note: z.string().nullable(),
        }),
      ),
    }),
  ),
});

// Nodes have ten seconds, and five for the way.
const waitMs = 25_000;

/** Has the running daemon gather evidence about a target now, and prints it. */
export async function gatherEvidence(target: string, options: DaemonOptions, context: CommandContext): Promise<number> {
  const { evidence, incident } = await ask({ ...options, waitMs }, context, Gathered, '/-/evidence', { target });
  if (options.json === true) return 0;
  const lines = evidence.flatMap(({ conclusions, nodes }) => [
    ...(conclusions.length === 0 ? ['nothing can be concluded'] : conclusions.map(({ text }) => singleLine(text, 300))),
    ...nodes.flatMap(nodeLines),
  ]);
  context.print(`${lines.join('\n')}\n`);
  if (incident !== null) context.print(`\nstored with the incident ${incident}\n`);
  return 0;
}

type GatheredNode = z.output<typeof Gathered>['evidence'][number]['nodes'][number];

function nodeLines({ node, is_failing: isFailing, document, note }: GatheredNode): readonly string[] {
  const title = `${node} ${isFailing ? 'sees it fail' : 'sees it up'}`;
  if (document === null) return ['', title, `  ${singleLine(note ?? '', 200)}`];
  const rows = [
    ...pathRows(document),
    ...namesRows(document),
    ...tlsRows(document),
    ...responseRows(document),
    ...document.missing.map(({ part, reason }) => ['missing', part, reason]),
  ];
  const safe = rows.map((row) => row.map((cell) => singleLine(cell, 120)));
  return ['', title, ...alignRows(safe).map((row) => `  ${row}`)];
}

function pathRows({ path }: EvidenceDocument): readonly string[][] {
  return (path?.hops ?? []).map(({ hop, probes }) => {
    const addresses = [...new Set(probes.flatMap(({ address }) => address ?? []))];
    const seconds = probes.flatMap((probe) => probe.seconds ?? []);
    const time = seconds.length === 0 ? '' : ` ${formatSeconds(Math.min(...seconds))}`;
    return ['path', String(hop), addresses.length === 0 ? 'no reply' : `${addresses.join(', ')}${time}`];
  });
}

function namesRows({ names }: EvidenceDocument): readonly string[][] {
  if (names === null) return [];
  return [['names', names.named?.server ?? names.resolver ?? 'resolver', names.failure ?? names.answers.join(', ')]];
}

function tlsRows({ tls }: EvidenceDocument): readonly string[][] {
  return (tls?.chain ?? []).map(({ subject, notAfter }) => ['tls', notAfter.slice(0, 10), subject]);
}

function responseRows({ response, received }: EvidenceDocument): readonly string[][] {
  return [
    ...(response === null ? [] : [['response', response.status ?? '', response.failure ?? '']]),
    ...(received === null ? [] : [['received', `${received.bytes} bytes`, received.failure ?? received.text]]),
  ];
}
