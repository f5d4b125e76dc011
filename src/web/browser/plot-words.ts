// How the chart writes times and lengths, and the colours that the style sheet gives it.

const clock = new Intl.DateTimeFormat('sv-SE', { hour: '2-digit', minute: '2-digit' });
const seconds = new Intl.DateTimeFormat('sv-SE', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const days = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short' });
const moments = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium' });

/** What stands under the axis: the time, the day if it is another one, or the month. */
export function tick(at: number, before: number | undefined, step: number): string {
  const when = new Date(at * 1_000);
  const day = days.format(when);
  if (step >= 28 * 86_400) return day.slice(0, 7);
  if (step >= 86_400) return day.slice(5);
  const isNew = before === undefined || days.format(new Date(before * 1_000)) !== day;
  const time = (step < 60 ? seconds : clock).format(when);
  return isNew ? `${time}\n${day.slice(5)}` : time;
}

export const momentOf = (at: number): string => moments.format(at * 1_000);

export function niceTop(highest: number): number {
  if (highest <= 0) return 1;
  const unit = 10 ** Math.floor(Math.log10(highest));
  return [1, 2, 4, 5, 10].map((step) => step * unit).find((one) => one >= highest) ?? highest;
}

export function lengthOf(seconds: number): string {
  if (seconds >= 10) return `${seconds.toFixed(1)} s`;
  if (seconds >= 1) return `${seconds.toFixed(2)} s`;
  if (seconds > 0 && seconds < 0.0009995) return `${Number((seconds * 1_000_000).toPrecision(3))} µs`;
  return `${Number((seconds * 1_000).toPrecision(3))} ms`;
}

const known = new Map<string, string>();

/** The colour of a class of the style sheet, in the scheme of the moment. */
export function colourOf(name: string): string {
  const key = `${name} ${matchMedia('(prefers-color-scheme: dark)').matches}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const probe = document.createElement('i');
  probe.className = name;
  document.body.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  known.set(key, colour);
  return colour;
}

export function clear(colour: string, share: number): string {
  const [red = '0', green = '0', blue = '0'] = colour.match(/[\d.]+/g) ?? [];
  return `rgba(${red}, ${green}, ${blue}, ${share.toFixed(3)})`;
}
