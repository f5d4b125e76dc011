import type { Clock } from '#kernel/clock.ts';
import type { Vote } from '#monitor/judge/vote.ts';

/** How often each node contradicted the others within the last hour. */
export interface Disagreement {
  record(votes: readonly Vote[]): void;
  /** The share of its answers that contradicted most of the others'; null if none could be compared. */
  ratioOf(node: string): number | null;
  keepNodes(nodes: ReadonlySet<string>): void;
}

interface Slot {
  number: number;
  compared: number;
  contradicted: number;
}

const slotMs = 300_000;
const slotsKept = 12;

export function createDisagreement(clock: Clock): Disagreement {
  const nodes = new Map<string, Slot[]>();
  const slotNow = () => Math.floor(clock.elapsed() / slotMs);

  function slotOf(node: string, number: number): Slot {
    let slots = nodes.get(node);
    if (slots === undefined) nodes.set(node, (slots = []));
    let slot = slots.at(-1);
    if (slot?.number === number) return slot;
    slot = { number, compared: 0, contradicted: 0 };
    slots.push(slot);
    if (slots.length > slotsKept) slots.shift();
    return slot;
  }

  return {
    record(votes) {
      let [ups, downs] = [0, 0];
      for (const { outcome } of votes) {
        if (outcome.status === 'up') ups += 1;
        else if (outcome.status === 'down') downs += 1;
      }
      if (ups + downs < 2) return;
      const number = slotNow();
      for (const { node, outcome } of votes) {
        if (outcome.status === 'unknown') continue;
        const against = outcome.status === 'up' ? downs : ups;
        const slot = slotOf(node.name, number);
        slot.compared += 1;
        if (against > (ups + downs - 1) / 2) slot.contradicted += 1;
      }
    },
    ratioOf(node) {
      const oldest = slotNow() - slotsKept;
      const recent = nodes.get(node)?.filter(({ number }) => number > oldest) ?? [];
      const compared = recent.reduce((sum, slot) => sum + slot.compared, 0);
      return compared === 0 ? null : recent.reduce((sum, slot) => sum + slot.contradicted, 0) / compared;
    },
    keepNodes(names) {
      for (const name of nodes.keys()) if (!names.has(name)) nodes.delete(name);
    },
  };
}
