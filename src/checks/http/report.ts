import { singleLine } from '#kernel/text.ts';
import { type Fact, failed, failure, type Outcome } from '../outcome.ts';
import { expiresAt } from '../certificate.ts';
import type { Detail } from './detail.ts';
import { keptHeaders } from './kept-headers.ts';
import type { RedirectResult } from './follow.ts';
import type { Head } from './head.ts';
import { hideSecrets } from './secrets.ts';
import type { Spec } from './spec.ts';
import type { Stopwatch } from './stopwatch.ts';

/** Everything that a probe found out, judged. */
export interface HttpFindings extends Omit<RedirectResult, 'url'> {
  readonly watch: Stopwatch;
  readonly unmet: Detail['failed_expectation'];
}

/** The outcome of what was found, with the spec's secrets taken out of all texts. */
export function report(spec: Spec, finding: HttpFindings, token: string | null = null): Outcome<Detail> {
  const { watch, address, certificate } = finding;
  const hide = hideSecrets(spec, token);
  const detail = detailOf(finding, hide);
  const facts: Partial<Record<Fact, number>> = {};
  if (certificate !== null) facts.certificate_expires_at = expiresAt(certificate);
  const measured = { seconds: watch.seconds, address, phases: watch.phases, facts, detail };
  if (finding.failure === null) return { status: 'up', ...measured };
  const { source, code, message } = finding.failure;
  return failed(failure(source, code, hide(message)), measured);
}

function detailOf(finding: HttpFindings, hide: (text: string) => string): Detail {
  const { head, body } = finding;
  return {
    status: head?.status ?? null,
    reason: hide(head?.reason ?? ''),
    version: head?.version ?? null,
    hops: finding.hops.map(({ url, status }) => ({ url: singleLine(hide(url)), status })),
    body_bytes: body?.bytes ?? null,
    body_complete: body?.complete ?? null,
    headers: head === null ? {} : headersOf(head, hide),
    certificate: finding.certificate,
    tls_protocol: finding.tlsProtocol,
    timed_by: finding.timedBy,
    failed_expectation: finding.unmet,
  };
}

function headersOf({ headers }: Head, hide: (text: string) => string): Detail['headers'] {
  const kept: Detail['headers'] = {};
  for (const name of keptHeaders) {
    const value = headers[name];
    if (typeof value === 'string') kept[name] = singleLine(hide(value));
  }
  return kept;
}
