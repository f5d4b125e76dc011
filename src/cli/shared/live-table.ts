import type { CheckSpec, Outcome } from '#checks/index.ts';
import type { RunProgress } from '#client/client.ts';
import { singleLine } from '#kernel/text.ts';
import { formatSeconds } from '#kernel/units.ts';
import { alignRows } from './table.ts';
import type { CommandContext } from './command-context.ts';

type ProgressNode = RunProgress['nodes'][number];

export interface LiveTable {
  show(progress: RunProgress): void;
  /** Shows the last state and the count of the votes. */
  finish(progress: RunProgress): void;
}

/** The nodes of a run: drawn anew as results come if a person looks on, otherwise a line for each when it is there. */
export function createLiveTable(spec: CheckSpec, context: CommandContext): LiveTable {
  const { interactive, columns, rows, print } = context;
  const printed = new Set<string>();
  let drawn = 0;
  let begun = false;

  function begin({ reportUrl }: RunProgress): void {
    if (begun) return;
    begun = true;
    print(`${spec.type} ${spec.host}\n${reportUrl === null ? '' : `report: ${reportUrl}\n`}\n`);
  }

  function draw({ nodes }: RunProgress): void {
    const lines = alignRows(nodes.map(rowOf)).map((line) => singleCells(line, columns));
    // Up to the first line of the table, and everything below it away.
    print(`${drawn === 0 ? '' : `\u{1b}[${drawn}A\u{1b}[J`}${lines.map((line) => `${line}\n`).join('')}`);
    drawn = lines.length;
  }

  function append({ nodes }: RunProgress): void {
    for (const node of nodes) {
      if (node.outcome === null || printed.has(node.node.name)) continue;
      printed.add(node.node.name);
      print(`${alignRows([rowOf(node)])[0] ?? ''}\n`);
    }
  }

  const show = (progress: RunProgress) => {
    begin(progress);
    // What has left the screen cannot be drawn anew.
    if (interactive && progress.nodes.length + headLines < rows) draw(progress);
    else append(progress);
  };
  return {
    show,
    finish(progress) {
      show(progress);
      print(`\n${summaryOf(progress.nodes)}\n`);
    },
  };
}

const headLines = 6;

function rowOf({ node: { name, country, city }, outcome }: ProgressNode): readonly string[] {
  const place = [city, country].filter((part) => part !== '').join(', ') || 'unknown place';
  return [name.padEnd(6), singleLine(place, 28).padEnd(28), ...resultOf(outcome)];
}

function resultOf(outcome: Outcome | null): readonly string[] {
  if (outcome === null) return ['...'];
  const took = outcome.seconds === null ? '' : formatSeconds(outcome.seconds);
  const address = outcome.address === null ? '' : outcome.address;
  return [outcome.status.padEnd(7), took.padEnd(9), outcome.status === 'up' ? address : outcome.failure.message];
}

function summaryOf(nodes: readonly ProgressNode[]): string {
  const counts = (['up', 'down', 'unknown'] as const).map((status) => {
    const count = nodes.filter(({ outcome }) => outcome?.status === status).length;
    return `${count} ${status}`;
  });
  return counts.join(', ');
}

/** The part of a line that fits: one that wraps would be two, and the next drawing would begin too low. */
export function singleCells(line: string, columns: number): string {
  return line.length < columns ? line : `${line.slice(0, Math.max(columns - 2, 1))}…`;
}
