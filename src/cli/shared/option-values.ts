import { InvalidArgumentError } from 'commander';
import { systemClock } from '#kernel/clock.ts';
import { formatDuration, parseDuration } from '#kernel/units.ts';
import { suggestion } from '#kernel/wording.ts';
import { isTimeZone, timeZoneNames } from '#kernel/zoned-time.ts';

// Values of options, parsed with the command line, so that all mistakes are reported together.

/** A duration in milliseconds. */
export function durationOf(text: string): number {
  const ms = parseDuration(text);
  if (ms === null)
    throw new InvalidArgumentError(`Expected a duration with its unit, such as ${formatDuration(300_000)}.`);
  return ms;
}

/** A duration, as it was written. */
export function durationText(text: string): string {
  durationOf(text);
  return text;
}

/** A moment, as the daemon reads it. */
export function momentText(text: string): string {
  const moment = Date.parse(text);
  if (!/^\d{4}-\d\d-\d\dT/.test(text) || Number.isNaN(moment))
    throw new InvalidArgumentError('Expected a time such as 2026-12-24T22:00 or 2026-12-24T22:00Z.');
  return new Date(moment).toISOString();
}

/** A moment of the past, by how long ago it was or by its date. */
export function pastMoment(text: string): number {
  const ago = parseDuration(text);
  if (ago !== null) return systemClock.now() - ago;
  const at = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:\d{2}))?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at))
    throw new InvalidArgumentError('Expected a duration such as 30d, or a date such as 2026-10-01.');
  return at;
}

/** A month, such as 2026-10. */
export function monthText(text: string): string {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) throw new InvalidArgumentError('Expected a month such as 2026-10.');
  return text;
}

/** A time zone that this machine knows, such as Europe/Berlin. */
export function timeZoneText(text: string): string {
  if (!isTimeZone(text))
    throw new InvalidArgumentError(`No time zone is named "${text}"${suggestion(text, timeZoneNames())}.`);
  return text;
}

/** Numbers of deliveries, one after the other. */
export function deliveryNumbers(text: string, before: readonly number[] = []): readonly number[] {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('Expected the number of a delivery.');
  return [...before, Number(text)];
}
