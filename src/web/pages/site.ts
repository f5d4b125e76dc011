import type { CheckTypeName, NodeInfo } from '#checks/index.ts';
import type { Page, ServicePages } from '#service/ports.ts';
import type { Assets } from '../assets/assets.ts';
import { checkForm } from './check-form.ts';
import { document, type Frame } from './layout.ts';
import { nodesContent, nodesTitle, type NodeValue } from './nodes.ts';
import { problemContent, type ProblemValue } from './problem.ts';
import { isDone, reportContent, reportTitle, type ReportValue } from './report.ts';
import { texts } from './texts.ts';

/** Headers of every page: only our own files are loaded, nothing inline runs or styles, and it cannot be framed. */
const pageHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; manifest-src 'self'; form-action 'self'; " +
    "base-uri 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
};

/** What pages about checks need to know of the service. */
export interface ServiceReader {
  nodes(): readonly NodeInfo[];
  readonly maxNodes: number;
}

export interface SiteOptions {
  readonly assets: Assets;
  readonly places: Frame['places'];
}

/** Makes whole pages out of values. */
export interface PageSet extends ServicePages {
  page(frame: Omit<Frame, 'places'>, headers?: Readonly<Record<string, string>>): Page;
  problem(problem: ProblemValue): Page;
  checkForm(asked: { readonly type: CheckTypeName; readonly host: string }, service: ServiceReader): Page;
  nodes(nodes: readonly NodeValue[]): Page;
}

export function createSite({ assets, places }: SiteOptions): PageSet {
  const page: PageSet['page'] = (frame, headers = {}) => ({
    headers: { ...pageHeaders, ...headers },
    body: document({ ...frame, places }, assets),
  });
  const problem = (value: ProblemValue) =>
    page({ title: texts.problems.title(value.status), place: null, content: problemContent(value) });

  return {
    page,
    problem,
    failure: problem,
    report(run: ReportValue, target) {
      const done = isDone(run);
      return page(
        {
          title: reportTitle(run),
          place: 'check',
          content: reportContent(run, target, assets),
          refresh: done ? null : 2,
          live: done ? null : `/check-result/${run.id}/events`,
        },
        { vary: 'accept', 'x-robots-tag': 'noindex' },
      );
    },
    checkForm: (asked, service) =>
      page({
        title: texts.check.title,
        place: 'check',
        content: checkForm({ ...asked, nodes: service.nodes(), maxNodes: service.maxNodes }),
      }),
    nodes: (nodes) =>
      page({ title: nodesTitle(nodes), place: 'nodes', content: nodesContent(nodes, assets), refresh: 15, every: 5 }),
  };
}
