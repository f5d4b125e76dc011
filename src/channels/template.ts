import { readFileSync } from 'node:fs';
import type { Liquid, Template } from 'liquidjs';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import { singleLine } from '#kernel/text.ts';
import type { Message } from '#monitor/notify/channel.ts';
import type { ContentTable, MessageContent } from '#monitor/notify/content.ts';
import { createEngine } from './liquid.ts';

/** A message as it is written down in a mail: text lines end in LF. */
export interface WrittenMail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** How messages become mails. */
export interface MailTemplate {
  render(message: Message): WrittenMail;
}

export interface MailTemplateSource {
  /** What to call it in an error. */
  readonly path: string;
  readonly text: string;
}

/**
 * The template of mails: the operator's, or Watchpost's own, which is read when the first mail is written. Throws `config_invalid` if the
 * operator's cannot be used.
 */
export function createMailTemplate(source?: MailTemplateSource): MailTemplate {
  if (source !== undefined) return compile(source);
  let own: MailTemplate | null = null;
  return { render: (message) => (own ??= compile(ownTemplate())).render(message) };
}

function compile(source: MailTemplateSource): MailTemplate {
  const engines = { plain: createEngine({}), html: createEngine({ outputEscape: 'escape' }) };
  const parsed = {
    plain: guard(source, () => engines.plain.parse(source.text)),
    html: guard(source, () => engines.html.parse(source.text)),
  };

  function part(name: 'subject' | 'text' | 'html', scope: object): string {
    const kind = name === 'html' ? 'html' : 'plain';
    return rendered(engines[kind], parsed[kind], { ...scope, part: name });
  }

  function render(message: Message): WrittenMail {
    const scope = scopeOf(message);
    return {
      subject: singleLine(part('subject', scope), 200),
      text: normalizeBlankLines(part('text', scope)),
      html: `${part('html', scope).trim()}\n`,
    };
  }

  guard(source, () => render(specimen));
  return { render };
}

/** Why a text is no template of mails, or null. */
export function faultOfMailTemplate(text: string): string | null {
  try {
    createMailTemplate({ path: '', text });
    return null;
  } catch (error) {
    return messageOf(error).replace(/^: /, '');
  }
}

function ownTemplate(): MailTemplateSource {
  const path = `${import.meta.dirname}/mail.liquid`;
  return { path, text: readFileSync(path, 'utf8') };
}

function rendered(engine: Liquid, template: Template[], scope: object): string {
  return String(engine.renderSync(template, scope));
}

function guard<Result>({ path }: MailTemplateSource, action: () => Result): Result {
  try {
    return action();
  } catch (error) {
    throw new WatchpostError('config_invalid', `${path}: cannot be used for mails: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

// Readable on white and on black: mail programs choose the background.
const colours = { bad: '#d1242f', good: '#1a7f37', unsure: '#9a6700', plain: null } as const;

function scopeOf({ content, incidents, at, id }: Message): object {
  return {
    ...content,
    id,
    at: new Date(at).toISOString(),
    incidents,
    colour: colours[content.tone] ?? '#57606a',
    acknowledge_words: incidents.length > 1 ? 'Acknowledge all' : 'Acknowledge',
    details: content.tables.flatMap(({ rows }) => rows.flatMap(detailsOf)),
    facts: content.facts.map(([label, value]) => ({ label, value })),
    fact_width: Math.max(0, ...content.facts.map(([label]) => label.length)),
    tables: content.tables.map(tableScope),
  };
}

// The links and notes of a row, for the half of a mail that is plain text.
function detailsOf(row: ContentTable['rows'][number]): readonly object[] {
  const text = row[0]?.text ?? '';
  const link = row.flatMap((one) => one.link ?? [])[0] ?? null;
  const acknowledge = row.flatMap((one) => one.acknowledge ?? [])[0] ?? null;
  const notes = row.flatMap((one) => one.notes ?? []);
  return link === null && acknowledge === null && notes.length === 0 ? [] : [{ text, notes, link, acknowledge }];
}

function tableScope({ title, columns, rows, more }: ContentTable): object {
  const widths = columns.map((name, index) =>
    Math.max(name.length, ...rows.map((row) => row[index]?.text.length ?? 0)),
  );
  return {
    title,
    more,
    columns: columns.map((name, index) => ({ name, width: widths[index] })),
    rows: rows.map((row) =>
      row.map(({ text, tone, notes = [], link = null, acknowledge = null }, index) => ({
        text,
        tone,
        colour: colours[tone],
        width: widths[index],
        notes,
        link,
        acknowledge,
      })),
    ),
  };
}

// Padding and the tags of a template leave spaces and empty lines behind. Only a signature ends in a space (RFC 3676, 4.3).
function normalizeBlankLines(text: string): string {
  const lines = text.split('\n').map((line) => line.trimEnd());
  const body = lines
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
  return `${body.replace(/^--$/m, '-- ')}\n`;
}

const cell = { text: 'x', tone: 'bad' } as const;
const content: MessageContent = {
  kind: 'opened',
  tone: 'bad',
  subject: 'x',
  headline: 'x',
  remarks: ['x'],
  facts: [['x', 'x']],
  tables: [{ title: 'x', columns: ['x'], rows: [[cell]], more: 'x' }],
  link: 'https://example.com/',
  footer: 'x',
};
const specimen: Message = {
  kind: 'opened',
  incidents: [],
  id: 'x',
  references: [],
  beginnings: new Map(),
  links: new Map(),
  content,
  at: 0,
};
