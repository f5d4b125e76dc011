import type { EvidenceDocument } from '#checks/index.ts';
import { type EvidenceGathering, type GatheredEvidence, gatheringsOf } from '#history/evidence.ts';
import { formatSeconds } from '#kernel/units.ts';
import { evidenceTexts as words } from './evidence-texts.ts';
import { foreign, html, type Markup, moment, nothing, state } from './markup.ts';
import { about } from './docs-links.ts';
import { diffLines } from './line-diff.ts';

type Path = NonNullable<EvidenceDocument['path']>;
type Hop = Path['hops'][number];
type Registration = NonNullable<NonNullable<EvidenceDocument['names']>['registration']>;
type ResponsePart = NonNullable<EvidenceDocument['response']>;

/** The section of an incident's page about what nodes gathered; nothing if they gathered nothing. */
export function evidenceSection(evidence: readonly GatheredEvidence[]): Markup {
  const gatherings = gatheringsOf(evidence);
  if (gatherings.length === 0) return nothing;
  return html`<h2>${words.title}${about('evidence', words.title)}</h2><div data-part="evidence">${gatherings.map((one, index) => gatheringMarkup(one, index + 1, gatherings.length)).toReversed()}</div>`;
}

function gatheringMarkup(
  { at, occasion, conclusions, parts }: EvidenceGathering,
  number: number,
  count: number,
): Markup {
  const hasDocument = parts.some(({ document }) => document !== null);
  const said =
    conclusions.length > 0
      ? html`<ul>${conclusions.map(({ text }) => html`<li>${foreign(text)}</li>`)}</ul>`
      : hasDocument
        ? html`<p class="soft">${words.nothingConcluded}</p>`
        : nothing;
  return html`<section><h3>${words.occasions[occasion]} <span class="small soft">${moment(at)}</span></h3>${said}${parts.map((part) => nodeMarkup(part, number, number === count))}</section>`;
}

function nodeMarkup(
  { at, node, isFailing, document, lastGood, note }: GatheredEvidence,
  number: number,
  isOpen: boolean,
): Markup {
  if (node === '') return html`<p>${foreign(note ?? '')}</p>`;
  const title = html`<summary>${node} ${state(isFailing ? 'down' : 'up', isFailing ? words.seesIt : words.seesUp)}</summary>`;
  const before = lastGood?.document ?? null;
  const owner = words.owner(node, number);
  const content =
    document === null
      ? html`<p class="soft">${words.note}: ${foreign(note ?? '')}</p>`
      : [
          document.path === null ? nothing : pathMarkup(document.path, before?.path ?? null, owner),
          document.names === null ? nothing : namesMarkup(document.names, owner),
          document.tls === null ? nothing : tlsMarkup(document.tls, owner),
          document.response === null ? nothing : responseMarkup(document.response, before?.response ?? null),
          document.received === null ? nothing : receivedMarkup(document.received),
          document.uplink === null ? nothing : uplinkMarkup(document.uplink, owner),
          missingMarkup(document.missing),
        ];
  const fold = `${at} ${node}`;
  return isOpen && isFailing
    ? html`<details data-fold="${fold}" open>${title}${content}</details>`
    : html`<details data-fold="${fold}">${title}${content}</details>`;
}

function table(label: string, columns: readonly string[], rows: readonly (readonly string[])[]): Markup {
  if (rows.length === 0) return nothing;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}"><table><thead><tr>${columns.map((one) => html`<th scope="col">${one}</th>`)}</tr></thead><tbody>${rows.map((row) => html`<tr>${row.map((cell) => html`<td class="wrap">${foreign(cell)}</td>`)}</tr>`)}</tbody></table></div>`;
}

const part = (title: string, ...content: Markup[]) => html`<h4>${title}</h4>${content}`;
const line = (text: string) => (text === '' ? nothing : html`<p>${foreign(text)}</p>`);

function pathMarkup(path: Path, good: Path | null, owner: string): Markup {
  const title = `${path.protocol.toUpperCase()} ${path.address}${path.port === null ? '' : ` ${path.port}`}`;
  return part(
    words.path,
    line(`${title}: ${words.ends[path.end] ?? path.end}`),
    sizeLine(path),
    table(
      `${words.path} ${owner}`,
      [words.hop, words.now, ...(good === null ? [] : [words.good])],
      pathRows(path, good),
    ),
  );
}

function sizeLine({ mtu, large }: Path): Markup {
  const lost = large?.result === 'lost' ? words.largeLost(large.last_hop) : '';
  return line([mtu === null ? '' : words.mtu(mtu), lost].filter(Boolean).join(', '));
}

/** The hops of a path, beside those of the last good one if there is one. */
export function pathRows(path: Path, good: Path | null): readonly (readonly string[])[] {
  const hopOf = (one: Path | null, hop: number) => one?.hops.find((each) => each.hop === hop);
  const numbers = new Set([...path.hops, ...(good?.hops ?? [])].map(({ hop }) => hop));
  return [...numbers]
    .toSorted((a, b) => a - b)
    .map((hop) => [String(hop), hopText(hopOf(path, hop)), ...(good === null ? [] : [hopText(hopOf(good, hop))])]);
}

function hopText(hop: Hop | undefined): string {
  if (hop === undefined) return '';
  const addresses = [...new Set(hop.probes.flatMap(({ address }) => address ?? []))];
  if (addresses.length === 0) return words.silent;
  const seconds = hop.probes.flatMap((probe) => probe.seconds ?? []);
  const as = hop.as === null || hop.as === undefined ? '' : ` (AS${hop.as.number})`;
  return `${addresses.join(', ')}${as}${seconds.length === 0 ? '' : ` ${formatSeconds(Math.min(...seconds))}`}`;
}

function namesMarkup(
  { resolver, named, answers, failure, rcode, delegation, registration }: NonNullable<EvidenceDocument['names']>,
  owner: string,
): Markup {
  const asked = named === undefined ? (resolver ?? '') : words.namedResolver(named.server, resolver, named.protocol);
  const own = [asked, answers.join(', '), failure ?? rcode ?? ''];
  const servers = delegation.flatMap(({ zone, servers }) =>
    servers.map(({ name, address, answer, failure: fault }) => [
      zone,
      `${name} ${address ?? ''}`.trim(),
      answer?.join(', ') ?? '',
      fault ?? '',
    ]),
  );
  return part(
    words.names,
    table(`${words.names} ${owner}`, [words.resolver, words.answers, words.failure], [own]),
    table(`${words.zone} ${owner}`, [words.zone, words.authoritative, words.answers, words.failure], servers),
    registration === undefined ? nothing : line(registrationText(registration)),
  );
}

function registrationText({ domain, registered, expiresAt, status, failure }: Registration): string {
  const until = expiresAt === null ? '' : words.expires(expiresAt.slice(0, 10));
  const state = registered === null ? (failure ?? '') : registered ? words.registered : words.notRegistered;
  return `${words.registration} ${domain}: ${[state, until, ...status].filter(Boolean).join(', ')}`;
}

function tlsMarkup(
  { protocol, chain, alert, failure, versions }: NonNullable<EvidenceDocument['tls']>,
  owner: string,
): Markup {
  const rows = chain.map(({ subject, issuer, notBefore, notAfter, names }) => [
    names.length === 0 ? subject : `${subject} (${names.join(', ')})`,
    issuer,
    `${notBefore.slice(0, 10)} - ${notAfter.slice(0, 10)}`,
  ]);
  const tried = versions.flatMap(({ version, accepted }) => (accepted === true ? [version] : []));
  return part(
    words.tls,
    line([protocol ?? '', alert === null ? '' : `${words.alert}: ${alert}`, failure ?? ''].filter(Boolean).join(', ')),
    line(tried.join(', ')),
    table(`${words.tls} ${owner}`, [words.subject, words.issuer, words.valid], rows),
  );
}

function responseMarkup(response: ResponsePart, good: ResponsePart | null): Markup {
  const { status, body, failure, redirects } = response;
  const changes = good === null ? null : lineDifference(linesOf(good), linesOf(response));
  const shown = changes === null ? linesOf(response) : changes;
  return part(
    words.response,
    line([status ?? '', failure ?? ''].filter(Boolean).join(', ')),
    line(redirects.join(' → ')),
    changes === null
      ? nothing
      : html`<p class="small soft">${changes.length === 0 ? words.same : words.difference}</p>`,
    shown.length === 0 ? nothing : html`<pre>${shown.join('\n')}</pre>`,
    body === null || changes !== null ? nothing : html`<p class="small soft">${words.body}</p><pre>${body}</pre>`,
  );
}

function linesOf({ status, headers, body }: ResponsePart): readonly string[] {
  const head = [...(status === null ? [] : [status]), ...headers.map(([name, value]) => `${name}: ${value}`)];
  return body === null ? head : [...head, '', ...body.split('\n')];
}

/** What changed from one text to another: lines that begin with `+` and `-`, in order. Lines that both have are left out. */
export function lineDifference(before: readonly string[], after: readonly string[]): readonly string[] {
  return diffLines(before, after).flatMap(({ kind, text }) =>
    kind === 'same' ? [] : [`${kind === 'added' ? '+' : '-'} ${text}`],
  );
}

function receivedMarkup({ bytes, text, failure }: NonNullable<EvidenceDocument['received']>): Markup {
  return part(
    words.received,
    line([String(bytes), failure ?? ''].filter(Boolean).join(', ')),
    text === '' ? nothing : html`<pre>${text}</pre>`,
  );
}

function uplinkMarkup(
  { gateway, resolver, references }: NonNullable<EvidenceDocument['uplink']>,
  owner: string,
): Markup {
  const reach = (is: boolean) => (is ? words.reached : words.notReached);
  const rows = [
    ...(gateway === null ? [] : [[words.gateway, gateway.address, reach(gateway.reached)]]),
    ...(resolver === null ? [] : [[words.resolver, resolver.address, reach(resolver.answered)]]),
    ...references.map(({ name, reached }) => [words.reference, name, reach(reached)]),
  ];
  return part(words.uplink, table(`${words.uplink} ${owner}`, [words.what, words.address, words.state], rows));
}

function missingMarkup(missing: EvidenceDocument['missing']): Markup {
  if (missing.length === 0) return nothing;
  return html`<p class="small soft">${words.missing}: ${foreign(missing.map(({ part: one, reason }) => `${one}: ${reason}`).join('; '))}</p>`;
}
