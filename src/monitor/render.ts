import type { Story, StoryTable } from './story.ts';

const columns = ['node', 'place', 'saw', 'took', 'why'] as const;

/** A story as plain text: lines end in LF, the table's columns are aligned. */
export function renderText(story: Story): string {
  const width = Math.max(...story.facts.map(([label]) => label.length));
  const facts = story.facts.map(([label, value]) => `${label.padEnd(width)}  ${value}`);
  const blocks = [
    [`${story.headline}.`, ...story.remarks],
    facts,
    ...story.tables.map(textTable),
    story.link === null ? [] : [story.link],
    ['-- ', story.footer],
  ];
  return `${blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

function textTable({ title, rows, more }: StoryTable): readonly string[] {
  const widths = columns.map((column) => Math.max(column.length, ...rows.map((row) => row[column].length)));
  const line = (cells: readonly string[]) =>
    `  ${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  ')}`.trimEnd();
  return [
    title,
    line(columns),
    ...rows.map((row) => line(columns.map((column) => row[column]))),
    ...(more === null ? [] : [`  ${more}`]),
  ];
}

// Colours that are readable on white and on black: mail programs choose the background.
const colours = { down: '#d1242f', up: '#1a7f37', unknown: '#9a6700' } as const;
const font = 'font-family:-apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif;font-size:15px;line-height:1.45';
const cell = 'padding:4px 14px 4px 0;vertical-align:top;text-align:left';
const ruled = `${cell};border-bottom:1px solid #888888`;

/** The same story as an HTML document: inline styles, nothing loaded from anywhere, every text escaped. */
export function renderHtml(story: Story): string {
  const colour = story.kind === 'opened' ? colours.down : colours.up;
  const facts = story.facts.map(
    ([label, value]) =>
      `<tr><th scope="row" style="${cell};font-weight:600">${escapeHtml(label)}</th><td style="${cell}">${escapeHtml(value)}</td></tr>`,
  );
  const lines = [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width">',
    '<meta name="color-scheme" content="light dark">',
    '<meta name="supported-color-schemes" content="light dark">',
    `<title>${escapeHtml(story.subject)}</title>`,
    '</head>',
    `<body style="margin:16px;${font}">`,
    `<p style="margin:0 0 12px;padding-left:10px;border-left:5px solid ${colour};font-size:18px;font-weight:600">${escapeHtml(story.headline)}</p>`,
    ...story.remarks.map((remark) => `<p style="margin:0 0 8px">${escapeHtml(remark)}</p>`),
    '<table role="presentation" style="border-collapse:collapse;margin:0 0 12px">',
    ...facts,
    '</table>',
    ...story.tables.flatMap(htmlTable),
    ...(story.link === null ? [] : [`<p><a href="${escapeHtml(story.link)}">${escapeHtml(story.link)}</a></p>`]),
    `<p style="margin:16px 0 0;font-size:12px;opacity:.75">${escapeHtml(story.footer)}</p>`,
    '</body>',
    '</html>',
  ];
  return `${lines.join('\n')}\n`;
}

function htmlTable({ title, rows, more }: StoryTable): readonly string[] {
  const head = columns.map((column) => `<th scope="col" style="${ruled};font-weight:600">${column}</th>`).join('');
  const body = rows.map((row) => {
    const cells = columns.map((column) => {
      const style = column === 'saw' ? `${cell};font-weight:600;color:${colours[row.saw]}` : cell;
      return `<td style="${style}">${escapeHtml(row[column])}</td>`;
    });
    return `<tr>${cells.join('')}</tr>`;
  });
  return [
    `<p style="margin:12px 0 4px;font-weight:600">${escapeHtml(title)}</p>`,
    '<table style="border-collapse:collapse;margin:0 0 8px">',
    `<thead><tr>${head}</tr></thead>`,
    '<tbody>',
    ...body,
    '</tbody>',
    '</table>',
    ...(more === null ? [] : [`<p style="margin:0 0 8px">${escapeHtml(more)}</p>`]),
  ];
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);
}
