import { createHash } from 'node:crypto';
import { singleLine } from '#kernel/text.ts';
import { dayMs } from '#kernel/units.ts';
import type { VisitorLanguage } from '#languages/language.ts';
import { html } from './markup.ts';
import { stateIn, type StatusValue } from './status.ts';
import { pastMs } from './status-past.ts';
import type { StatusPlace } from './status-place.ts';
import { texts } from './texts.ts';

// A target's own name is for those who run it; readers of a feed only need the same mark each time.
const markOf = (target: string) => createHash('sha256').update(target).digest('hex').slice(0, 16);

/** A status page as a feed (Atom, RFC 4287): an entry for each note and each service that is not well; that of a quiet day has none. */
export function feedOf(value: StatusValue, language: VisitorLanguage, { url, feedUrl }: StatusPlace): string {
  const troubled = value.services.filter(({ status }) => status !== 'up' && status !== 'waiting');
  const times = [
    // What is over is known for so long: nothing that came before can be the last change.
    Math.floor((value.now - pastMs) / dayMs) * dayMs,
    ...troubled.flatMap(({ since }) => (since === null ? [] : [since])),
    ...value.notes.map(({ createdAt }) => createdAt),
    ...value.outages.map(({ from, to }) => to ?? from),
    ...value.pastNotes.map(({ createdAt, endsAt }) => Math.min(endsAt ?? createdAt, value.now)),
  ];
  const updated = new Date(Math.max(...times)).toISOString();
  const notes = value.notes.map(({ id, words: text, createdAt, stage }) => {
    const at = new Date(createdAt).toISOString();
    const words = stage === null ? text : `${language.say(stage)}: ${text}`;
    return html`<entry><id>${url}#note/${id}</id><title>${singleLine(words, 80)}</title><updated>${at}</updated><content>${words}</content><link href="${url}"/></entry>\n`;
  });
  const maintenance = value.maintenance.map(({ from, to, services }) => {
    const span = language.say('span', { from: language.time(from), to: language.time(to) });
    const title = `${language.say('maintenance')}: ${language.list(services)}, ${span}`;
    return html`<entry><id>${url}#maintenance/${from}/${to}</id><title>${title}</title><updated>${new Date(from).toISOString()}</updated><link href="${url}"/></entry>\n`;
  });
  const entries = troubled.map(({ name, target, status, since }) => {
    const at = new Date(since ?? 0).toISOString();
    return html`<entry><id>${url}#${markOf(target)}/${since ?? 0}</id><title>${name}: ${stateIn(language, status)}</title><updated>${at}</updated><link href="${url}"/></entry>\n`;
  });
  const self = `${feedUrl}?lang=${language.code}`;
  return String(
    html`<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="${language.code}"><id>${url}</id><title>${value.title}</title><updated>${updated}</updated><author><name>${texts.name}</name></author><link rel="self" href="${self}"/><link href="${url}"/>
${notes}${maintenance}${entries}</feed>
`,
  );
}
