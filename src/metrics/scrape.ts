import type { Clock } from '#kernel/clock.ts';
import { NewestEntries } from '#kernel/newest-entries.ts';
import { onceFor } from '#kernel/once-for.ts';
import { createRests, type TurnLimits } from '#kernel/turns.ts';
import { type BegunText, createKeptText, partsAtOnce, type WrittenMetrics } from './kept-text.ts';
import { protobuf } from './protobuf-format.ts';
import type { Register, ShownFamily } from './register.ts';
import type { MetricSeries } from './series.ts';
import { type Format, openMetrics, plainText } from './text-format.ts';
import { createByteParts, type ByteParts } from './byte-parts.ts';

/** A request for the metrics. */
export interface ScrapeRequest {
  /** The Accept header. */
  readonly accept?: string | undefined;
  /** What tells one Prometheus from another, the same with every scrape; null for people and other programs. */
  readonly scraper: string | null;
}

/** What is sent, as it is made. */
export interface Scrape {
  readonly contentType: string;
  /** Each part holds until `partsAtOnce` more have begun. */
  readonly body: AsyncIterable<Uint8Array>;
  /** The same, written whole and up to two minutes ago, if it is so long that its writing is shared; else null. */
  readonly kept: (() => Promise<WrittenMetrics>) | null;
}

export interface ScrapeOptions {
  readonly register: Register;
  readonly own: { families(): Promise<readonly ShownFamily[]> };
  readonly clock: Clock;
  /** Brings in what is asked for only before it is written. */
  readonly refresh: () => void;
  /** Whether there are so many series that their writing is shared. */
  readonly isLong: () => boolean;
}

interface WritePlan {
  readonly format: Format;
  /** So many of the series that begin at 0 are not new. */
  readonly known: number;
  readonly ofProgram: readonly ShownFamily[];
}

const perSlice = 100;
// Longer ones on a busy thread made the scrapes of an overloaded hub no faster, and took time from what it had to read.
const turns: TurnLimits = { leastMs: 10, mostMs: 10 };
// Fewer parts are less work for what packs and sends them.
const partBytes = 524_288;
// Each part waits for the thread that packs it, and on a starved machine for much else.
const keptPartBytes = 1_048_576;
const mostScrapers = 100;
const youngMs = 300_000;

/**
 * Writes all metrics in the format that is asked for, in turns of ten milliseconds; each series is consistent in itself. What began to
 * count since a scraper's last scrape is shown to it at 0 once: without that Prometheus would never see its first increase.
 */
export function createScrapes({
  register,
  own,
  clock,
  refresh,
  isLong,
}: ScrapeOptions): (asked: ScrapeRequest) => Scrape {
  const seen = new NewestEntries<string, number>(mostScrapers);
  const startedAt = clock.elapsed();

  function seenBy(scraper: string | null): number {
    if (scraper === null) return Infinity;
    // A new scraper may have been here before a restart of its own, so it counts as informed. Only after our start is everything new.
    return seen.get(scraper) ?? (clock.elapsed() - startedAt < youngMs ? 0 : Infinity);
  }

  async function begin(format: Format, known: number, parts: ByteParts): Promise<BegunText> {
    refresh();
    const ofProgram = await own.families();
    return { births: register.births, body: write({ format, known, ofProgram }, parts) };
  }

  async function* write({ format, known, ofProgram }: WritePlan, parts: ByteParts): AsyncGenerator<Uint8Array> {
    const isNew = ({ birth }: MetricSeries) => birth > known;
    const rest = createRests(clock, undefined, turns);
    for (const family of [...register.families, ...ofProgram]) {
      let isFirst = true;
      for (const slice of slicesOf(family)) {
        const written = format.write(family, slice, { isFirst, isNew });
        isFirst = false;
        const part = parts.add(written);
        if (part !== null) yield part;
        await rest();
      }
    }
    for (const part of [parts.add(format.end), parts.end()]) if (part !== null) yield part;
  }

  async function* writeFor(format: Format, scraper: string | null): AsyncGenerator<Uint8Array> {
    const { births, body } = await begin(format, seenBy(scraper), createByteParts(partBytes, partsAtOnce));
    yield* body;
    if (scraper !== null) seen.set(scraper, births);
  }

  const keptText = onceFor((format: Format) =>
    createKeptText(clock, async (known) => begin(format, known, createByteParts(keptPartBytes, partsAtOnce))),
  );

  async function take(format: Format, scraper: string | null): Promise<WrittenMetrics> {
    const known = seenBy(scraper);
    const written = await keptText(format).take({ scraper, known });
    if (scraper !== null) seen.set(scraper, known === Infinity ? written.births : Math.max(known, written.births));
    return written;
  }

  return ({ accept, scraper }) => {
    const format = formatFor(accept);
    const kept = isLong() ? async () => take(format, scraper) : null;
    return { contentType: format.contentType, body: writeFor(format, scraper), kept };
  };
}

// At least one, which may be empty: a family without series shows that it is there.
function* slicesOf(series: Iterable<MetricSeries>): Generator<readonly MetricSeries[]> {
  let slice: MetricSeries[] = [];
  for (const one of series) {
    slice.push(one);
    if (slice.length < perSlice) continue;
    yield slice;
    slice = [];
  }
  yield slice;
}

interface AcceptedType {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

/** The format that the Accept header likes best; plain text if it likes none of them. */
export function formatFor(accept = ''): Format {
  const wanted = accept.split(',').map(readWanted);
  const fitting = wanted.flatMap((one) => {
    const format = formats.find((candidate) => candidate.fits(one))?.format;
    return format === undefined || one.quality === 0 ? [] : [{ format, quality: one.quality }];
  });
  return fitting.toSorted((a, b) => b.quality - a.quality)[0]?.format ?? plainText;
}

const formats: readonly { readonly format: Format; fits(wanted: AcceptedType): boolean }[] = [
  {
    format: protobuf,
    fits: ({ type, parameters }) =>
      type === 'application/vnd.google.protobuf' &&
      parameters.get('proto') === 'io.prometheus.client.metricfamily' &&
      parameters.get('encoding') === 'delimited',
  },
  {
    format: openMetrics,
    fits: ({ type, parameters }) =>
      type === 'application/openmetrics-text' && (parameters.get('version') ?? '1.0.0') === '1.0.0',
  },
  {
    format: plainText,
    fits: ({ type, parameters }) => type === 'text/plain' && (parameters.get('version') ?? '0.0.4') === '0.0.4',
  },
];

function readWanted(text: string): AcceptedType {
  const [type = '', ...rest] = text
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const parameters = new Map(
    rest.map((part) => {
      const [name = '', value = ''] = part.split('=').map((word) => word.trim().replace(/^"(.*)"$/, '$1'));
      return [name, value] as const;
    }),
  );
  const quality = Number(parameters.get('q') ?? 1);
  return { type, parameters, quality: Number.isNaN(quality) ? 0 : quality };
}
