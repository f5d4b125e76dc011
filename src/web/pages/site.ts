import type { CheckTypeName, NodeInfo } from '#checks/index.ts';
import type { Page, ServicePages } from '#service/ports.ts';
import type { Assets } from '../assets/assets.ts';
import { checkForm } from './check-form.ts';
import type { HubsLine } from './hubs-texts.ts';
import { document, type Frame } from './layout.ts';
import { nodesContent, nodesTitle, type NodeValue } from './nodes.ts';
import { noOverload, type ShownOverload } from './overload.ts';
import { problemContent, type ProblemValue } from './problem.ts';
import { isDone, reportCard, reportContent, reportHead, reportTitle, type ReportValue } from './report.ts';
import { createCards } from './status-card.ts';
import { texts } from './texts.ts';

/** Headers of every page: only our own files are loaded, nothing inline runs or styles, and it cannot be framed. */
const pageHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; manifest-src 'self'; form-action 'self'; " +
    "base-uri 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
};

// A run that goes on has another picture soon, and other sites show it.
const pictureHeaders = {
  'content-type': 'image/png',
  'cache-control': 'public, max-age=10',
  'cross-origin-resource-policy': 'cross-origin',
  'x-robots-tag': 'noindex',
};

/** What pages about checks need to know of the service. */
export interface ServiceReader {
  nodes(): readonly NodeInfo[];
  readonly maxNodes: number;
}

export interface SiteOptions {
  /** Null if checks cannot be started on a page. */
  readonly service: ServiceReader | null;
  readonly assets: Assets;
  readonly places: Frame['places'];
  /** The line about the hubs as they are now; null if there is one hub. */
  readonly hubs?: (() => HubsLine) | null;
  /** What is overloaded at this moment. Default: nothing. */
  readonly overload?: () => ShownOverload;
}

/** Makes whole pages out of values. */
export interface PageSet extends ServicePages {
  page(frame: Omit<Frame, 'places' | 'hubs'>, headers?: Readonly<Record<string, string>>): Page;
  problem(problem: ProblemValue): Page;
  checkForm(
    asked: { readonly type: CheckTypeName; readonly host: string },
    service: ServiceReader,
    user: string | null,
  ): Page;
  nodes(nodes: readonly NodeValue[], user: string | null): Page;
}

export function createSite({
  assets,
  places,
  service,
  hubs = null,
  overload = () => noOverload,
}: SiteOptions): PageSet {
  const cards = createCards();
  const page: PageSet['page'] = (frame, headers = {}) => ({
    headers: { ...pageHeaders, ...headers },
    body: document({ ...frame, places, hubs: hubs?.() ?? null }, assets),
  });
  const problem = (value: ProblemValue) =>
    page({ title: texts.problems.title(value.status), place: null, content: problemContent(value) });

  return {
    page,
    problem,
    failure(value, asked) {
      if (asked === null || service === null) return problem(value);
      const form = checkForm({
        ...asked,
        nodes: service.nodes(),
        maxNodes: service.maxNodes,
        objection: value.message,
      });
      return page({ title: texts.problems.title(value.status), place: 'check', content: form });
    },
    card: (run: ReportValue) => ({ headers: pictureHeaders, body: cards(reportCard(run)) }),
    report(run: ReportValue, target, base) {
      const done = isDone(run);
      return page(
        {
          title: reportTitle(run),
          place: 'check',
          content: reportContent(run, target, assets),
          head: reportHead(run, base),
          refresh: done ? null : 2,
          live: done ? null : `/check-result/${run.id}/events`,
        },
        { vary: 'accept', 'x-robots-tag': 'noindex' },
      );
    },
    checkForm: (asked, service, user) =>
      page({
        user,
        title: texts.check.title,
        place: 'check',
        content: checkForm({ ...asked, nodes: service.nodes(), maxNodes: service.maxNodes }),
      }),
    nodes: (nodes, user) =>
      page({
        user,
        title: nodesTitle(nodes),
        place: 'nodes',
        content: nodesContent(nodes, assets, overload()),
        refresh: 15,
        every: 5,
      }),
  };
}
