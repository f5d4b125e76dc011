/** The samples of a text in Prometheus' format, by name and labels as written. */
export function samplesOf(text: string): ReadonlyMap<string, number> {
  const samples = new Map<string, number>();
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const end = line.lastIndexOf(' ');
    const series = line.slice(0, end);
    if (samples.has(series)) throw new Error(`written twice: ${series}`);
    samples.set(series, Number(line.slice(end + 1)));
  }
  return samples;
}
