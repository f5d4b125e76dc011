import { createHash } from 'node:crypto';
import type { Outcome } from '#checks/index.ts';
import { describeDuration } from '#kernel/units.ts';
import { nodeIdOf } from '#protocol/wire.ts';
import type { CheckRun } from '../check-run.ts';

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: light-dark(#1b1f24, #e6e9ec); background: light-dark(#fff, #14171a); }
h1 { font-size: 1.4rem; overflow-wrap: anywhere; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: .4rem .6rem; text-align: left; vertical-align: top; border-bottom: 1px solid light-dark(#d5dadf, #343a40); overflow-wrap: anywhere; }
td.time { white-space: nowrap; text-align: right; font-variant-numeric: tabular-nums; }
.up { color: light-dark(#0a6b35, #6fd597); }
.down { color: light-dark(#a81d1d, #ff9a92); }
.unknown, .note { color: light-dark(#5b6570, #9aa4ae); }
`;

/** Headers of the report page: nothing runs, nothing is loaded, and only its own style counts. */
export const reportHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'cache-control': 'no-store',
  'x-robots-tag': 'noindex',
  vary: 'accept',
};

const refreshSeconds = 2;

/** A run as a page: a row for each node, in words. It reloads itself until every node has answered. */
export function reportPage(run: CheckRun, nodeDomain: string): string {
  const { spec, results, createdAt, finished, done } = run;
  const title = `${spec.type} ${spec.host}`;
  const state = done ? 'Every node has answered.' : `${finished} of ${results.length} nodes have answered.`;
  const started = new Date(createdAt).toISOString();
  const rows = results.map(({ node, outcome }) => {
    const place = [node.city, node.country].filter((part) => part !== '').join(', ');
    const status = outcome?.status ?? 'unknown';
    return `<tr><td>${escape(nodeIdOf(node.name, nodeDomain))}</td><td>${escape(place)}</td>
<td class="${status}">${escape(wordsOf(outcome))}</td><td class="time">${escape(timeOf(outcome))}</td><td>${escape(outcome?.address ?? '')}</td></tr>`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${done ? '' : `<meta http-equiv="refresh" content="${refreshSeconds}">\n`}<title>${escape(title)}</title>
<style>${style}</style>
</head>
<body>
<h1>${escape(title)}</h1>
<p>${state} <span class="note">Started <time datetime="${started}">${started.slice(0, 19).replace('T', ' ')} UTC</time>.</span></p>
<table>
<thead><tr><th scope="col">Node</th><th scope="col">Place</th><th scope="col">Result</th><th scope="col">Time</th><th scope="col">Address</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>
</body>
</html>
`;
}

function wordsOf(outcome: Outcome | null): string {
  if (outcome === null) return 'Still working';
  const loss = outcome.facts.loss;
  const lost = loss === undefined || loss === 0 ? '' : `, ${Math.round(loss * 100)}% lost`;
  if (outcome.status === 'up') return `Up${lost}`;
  return `${outcome.status === 'down' ? 'Down' : 'Unknown'}: ${outcome.failure.message}`;
}

function timeOf(outcome: Outcome | null): string {
  if (outcome === null || outcome.seconds === null) return '';
  const ms = outcome.seconds * 1_000;
  return ms < 10_000 ? `${ms.toPrecision(3)} ms` : describeDuration(ms);
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}
