// Which span a chart shows, in seconds since the epoch.

export interface PlotView {
  readonly from: number;
  readonly to: number;
}

const shortest = 600;
const longest = 730 * 86_400;
const within = (length: number): number => Math.min(Math.max(length, shortest), longest);

/** `factor` times as long, with what lies at this share of it if it was. */
export function zoomed({ from, to }: PlotView, factor: number, share: number): PlotView {
  const length = within((to - from) * factor);
  const middle = from + (to - from) * share;
  return { from: middle - length * share, to: middle + length * (1 - share) };
}

export function shifted({ from, to }: PlotView, share: number): PlotView {
  const by = (to - from) * share;
  return { from: from + by, to: to + by };
}

/** The span nearest to this one that there can be: not too short, not too long, and not after `newest`. */
export function possible({ from, to }: PlotView, newest: number): PlotView {
  const length = within(to - from);
  const end = Math.min((from + to + length) / 2, newest);
  return { from: end - length, to: end };
}
