import type { StatusValue } from './status.ts';

/** Planned maintenance of a status page as a calendar (iCalendar, RFC 5545), which calendar programs subscribe to. */
export function calendarOf(
  { title, maintenance, now }: Pick<StatusValue, 'title' | 'maintenance' | 'now'>,
  url: string,
): string {
  const events = maintenance.flatMap(({ from, to, services }) => [
    'BEGIN:VEVENT',
    `UID:${from}-${to}-${services.length}@${new URL(url).hostname}`,
    `DTSTAMP:${stampOf(now)}`,
    `DTSTART:${stampOf(from)}`,
    `DTEND:${stampOf(to)}`,
    `SUMMARY:${escaped(`${title}: ${services.join(', ')}`)}`,
    `URL:${url}`,
    'END:VEVENT',
  ]);
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Watchpost//status//EN',
    `X-WR-CALNAME:${escaped(title)}`,
    ...events,
    'END:VCALENDAR',
  ];
  return lines.map((line) => `${folded(line)}\r\n`).join('');
}

// Form 2 of section 3.3.5: UTC.
const stampOf = (at: number) => new Date(at).toISOString().replaceAll(/[-:]|\.\d+/g, '');

// Section 3.3.11.
const escaped = (text: string) => text.replaceAll(/[\\;,]/g, String.raw`\$&`).replaceAll(/\r?\n/g, String.raw`\n`);

// Section 3.1: lines of at most 75 octets; a line that begins with a space continues the one before.
function folded(line: string): string {
  const pieces: string[] = [];
  let piece = '';
  for (const character of line) {
    if (Buffer.byteLength(piece + character) > 73) {
      pieces.push(piece);
      piece = '';
    }
    piece += character;
  }
  return [...pieces, piece].join('\r\n ');
}
