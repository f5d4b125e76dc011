import type { ResponseEvidence } from '../detail.ts';
import {
  conclusion,
  type EvidenceView,
  joinNodes,
  largestGroup,
  type NodeEvidence,
  quoted,
  type ConclusionRule,
  seenFrom,
} from './view.ts';

const responseOf = ({ document }: NodeEvidence) => document.response;
// The three digits of HTTP, or the name of a status or health of gRPC.
const codeOf = (response: ResponseEvidence | null | undefined) =>
  /^(?:\d{3}|[^:]+)/.exec(response?.status ?? '')?.[0] ?? null;

function headerOf(response: ResponseEvidence | null | undefined, wanted: string): string | null {
  return response?.headers.find(([name]) => name.toLowerCase() === wanted)?.[1] ?? null;
}

// In one line; null without one.
function titleOf(response: ResponseEvidence | null | undefined): string | null {
  const [, title = ''] = /<title[^>]*>([^<]{1,200})<\/title>/i.exec(response?.body ?? '') ?? [];
  const line = title.replaceAll(/(?:\\[rnt]|\s)+/g, ' ').trim();
  return line === '' ? null : line;
}

// Codes by which something in between refuses a request: RFC 9110, sections 15.5.4 and 15.5.2, RFC 6585 and RFC 7725.
const blocking: ReadonlySet<string> = new Set(['401', '403', '407', '429', '451']);

const intermediaryOf = (response: ResponseEvidence | null | undefined) =>
  headerOf(response, 'via') ?? headerOf(response, 'server');

// Whether the refusal differs from what this node or others get: otherwise it is the way of this server.
function isUnusual({ document: { response }, lastGood }: NodeEvidence, others: readonly NodeEvidence[]): boolean {
  const before = lastGood?.response;
  const isOther = codeOf(before) !== null && intermediaryOf(before) !== intermediaryOf(response);
  return isOther || others.length > 0;
}

function block({ failing, healthy }: EvidenceView) {
  const othersOf = (one: NodeEvidence) => {
    const code = codeOf(responseOf(one));
    return healthy.filter((other) => codeOf(responseOf(other)) !== null && codeOf(responseOf(other)) !== code);
  };
  const group = largestGroup(failing, (one) => {
    const response = responseOf(one);
    const intermediary = intermediaryOf(response);
    if (!blocking.has(codeOf(response) ?? '') || intermediary === null) return null;
    return isUnusual(one, othersOf(one)) ? `${response?.status ?? ''} ${intermediary}` : null;
  });
  const [first] = group;
  if (first === undefined) return [];
  const response = responseOf(first);
  const header = headerOf(response, 'via') === null ? 'server' : 'via';
  const [other] = othersOf(first);
  const rest = other === undefined ? '' : `; ${other.node} gets ${codeOf(responseOf(other)) ?? ''}`;
  const gets = `${group.length > 1 ? 'get' : 'gets'} ${response?.status ?? ''}`;
  const text = `${joinNodes(group)} ${gets} with the ${header} header ${quoted(headerOf(response, header) ?? '')}${rest}`;
  return conclusion('response', 'response-blocked', text);
}

function changedStatus(view: EvidenceView) {
  const textOf = ({ document, lastGood, failure }: NodeEvidence) => {
    const { response } = document;
    const before = lastGood?.response;
    if (failure !== 'status' || !response?.status || !before?.status || codeOf(response) === codeOf(before))
      return null;
    const title = titleOf(response);
    const titled = title === null || title === titleOf(before) ? '' : ` with the title ${quoted(title)}`;
    return `The server answers ${response.status}${titled}; the last good answer was ${before.status}`;
  };
  const group = largestGroup(view.failing, textOf);
  const text = group[0] === undefined ? null : textOf(group[0]);
  return text === null ? [] : conclusion('response', 'response-status', `${text}${seenFrom(group, view)}`);
}

// Where a redirect that was not followed leads, or where the followed ones ended.
function destinationOf(response: ResponseEvidence | null | undefined): string | null {
  const location = codeOf(response)?.startsWith('3') === true ? headerOf(response, 'location') : null;
  const last = location ?? (response?.redirects ?? []).at(-1) ?? null;
  return last === null || !URL.canParse(last) ? null : new URL(last).host;
}

function elsewhere(view: EvidenceView) {
  const textOf = ({ document, lastGood }: NodeEvidence) => {
    const to = destinationOf(document.response);
    if (to === null || codeOf(lastGood?.response) === null || destinationOf(lastGood?.response) === to) return null;
    return `The server redirects to ${to}, which it did not in the last good answer`;
  };
  const group = largestGroup(view.failing, textOf);
  const text = group[0] === undefined ? null : textOf(group[0]);
  return text === null ? [] : conclusion('response', 'response-redirect', `${text}${seenFrom(group, view)}`);
}

// Content codings change the length, and what was not read to its end has none.
function truncated(view: EvidenceView) {
  const textOf = (one: NodeEvidence) => {
    const response = responseOf(one);
    const announced = headerOf(response, 'content-length');
    if (response === null || response.bodyBytes === null || announced === null || !/^\d+$/.test(announced)) return null;
    if (headerOf(response, 'content-encoding') !== null || response.failure === null || response.isWhole !== false)
      return null;
    return response.bodyBytes < Number(announced)
      ? `The response ends after ${response.bodyBytes} of ${announced} bytes`
      : null;
  };
  const group = largestGroup(view.failing, textOf);
  const text = group[0] === undefined ? null : textOf(group[0]);
  return text === null ? [] : conclusion('response', 'response-truncated', `${text}${seenFrom(group, view)}`);
}

function changedTitle(view: EvidenceView) {
  const textOf = ({ document, lastGood, failure }: NodeEvidence) => {
    const [title, before] = [titleOf(document.response), titleOf(lastGood?.response)];
    if (failure !== 'body' || title === null || before === null || title === before) return null;
    return `The title of the page is ${quoted(title)}; in the last good answer it was ${quoted(before)}`;
  };
  const group = largestGroup(view.failing, textOf);
  const text = group[0] === undefined ? null : textOf(group[0]);
  return text === null ? [] : conclusion('response', 'response-title', `${text}${seenFrom(group, view)}`);
}

export const responseRules: readonly ConclusionRule[] = [truncated, block, elsewhere, changedStatus, changedTitle];
