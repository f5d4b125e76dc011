import { z } from 'zod';
import { formatRange, type StatusRange } from './status-ranges.ts';

const hint = 'expected a status code such as 204, a range such as "200-299", or a list of them';
const pattern = /^([1-9]\d\d)(?:-([1-9]\d\d))?$/;
const StatusText = z.union([z.int().min(100).max(999), z.string().regex(pattern, { error: hint })], { error: hint });
type StatusText = z.output<typeof StatusText>;

/** Accepted status codes: `204`, `"200-299"` or `["200-299", 301]`. */
export const StatusRanges = z.codec(
  z.union([StatusText, z.array(StatusText).min(1).max(20)], { error: hint }),
  z.custom<readonly StatusRange[]>(),
  {
    decode(written, context): readonly StatusRange[] {
      const ranges = (Array.isArray(written) ? written : [written]).map(readRange);
      for (const range of ranges) {
        if (range.from > range.to) {
          context.issues.push({
            code: 'custom',
            input: written,
            message: `"${formatRange(range)}" is empty: write the smaller status code first`,
          });
        }
      }
      return ranges;
    },
    encode(ranges) {
      const written = ranges.map(formatRange);
      const [only] = written;
      return written.length === 1 && only !== undefined ? only : written;
    },
  },
);

function readRange(written: StatusText): StatusRange {
  if (typeof written === 'number') return { from: written, to: written };
  const [, from, to = from] = pattern.exec(written) ?? [];
  return { from: Number(from), to: Number(to) };
}
