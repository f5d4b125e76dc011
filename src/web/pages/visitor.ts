import type { VisitorLanguage, TextKey } from '#languages/language.ts';
import { html, type Markup } from './markup.ts';

/** A moment in a visitor's language: in UTC, and in the visitor's own zone where scripts run. */
export function momentIn(language: VisitorLanguage, at: number, form: 'time' | 'short' | 'ago' = 'time'): Markup {
  return html`<time datetime="${new Date(at).toISOString()}" data-form="${form}">${language.time(at)}</time>`;
}

const units = [10_000, 60_000, 3_600_000, 24 * 3_600_000];

/** A duration in its largest unit: what shows it would otherwise change, and be sent, each second. */
export function roughDuration(language: VisitorLanguage, ms: number): string {
  const unit = units.findLast((one) => ms >= (one > 3_600_000 ? 2 * one : one)) ?? 1_000;
  return language.duration(Math.floor(ms / unit) * unit);
}

/** A text with markup in places of its values. */
export const phrase = (
  language: VisitorLanguage,
  key: TextKey,
  values: Readonly<Record<string, Markup | string>>,
): Markup => html`${language.pieces(key, values).map((piece) => html`${piece}`)}`;
