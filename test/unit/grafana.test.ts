import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url).pathname;

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly datasource?: { readonly type: string; readonly uid: string };
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly {
    readonly refId: string;
    readonly expr: string;
    readonly datasource: { readonly type: string; readonly uid: string };
  }[];
}

interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly schemaVersion: number;
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly type: string; readonly query: unknown }[];
  };
  readonly panels: readonly Panel[];
}

const dashboards = globSync('config/grafana/*.json', { cwd: root }).map(
  (file) => JSON.parse(readFileSync(root + file, 'utf8')) as Dashboard,
);
const documented = readFileSync(`${root}docs/metrics.md`, 'utf8');
const source = { type: 'prometheus', uid: '${datasource}' };
const kinds = ['row', 'stat', 'timeseries', 'table', 'state-timeline', 'bargauge', 'heatmap'];

test('each dashboard has a name of its own, and takes its data from the source that is chosen', () => {
  expect(dashboards.map(({ uid }) => uid).toSorted()).toEqual([
    'watchpost-itself',
    'watchpost-nodes',
    'watchpost-overview',
    'watchpost-target',
  ]);
  for (const { title, schemaVersion, templating, panels } of dashboards) {
    expect(title).toMatch(/^Watchpost: /);
    expect(schemaVersion).toBeGreaterThan(36);
    expect(templating.list[0]).toMatchObject({ name: 'datasource', type: 'datasource', query: 'prometheus' });
    const variables = new Set(templating.list.map(({ name }) => name));
    for (const { type, datasource, targets = [] } of panels) {
      expect(kinds).toContain(type);
      if (type === 'row') continue;
      expect(datasource).toEqual(source);
      expect(targets.length).toBeGreaterThan(0);
      expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
      for (const target of targets) {
        expect(target.datasource).toEqual(source);
        const used = [...target.expr.matchAll(/\$(\w+)/g)].map(([, name]) => name ?? '');
        expect(used.filter((name) => !name.startsWith('__') && !variables.has(name))).toEqual([]);
        expect(target.expr).toContain('job=~"$job",instance=~"$instance"');
      }
    }
  }
});

test('panels have numbers of their own and do not lie on each other', () => {
  for (const { panels, title } of dashboards) {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const taken = new Map<string, string>();
    for (const panel of panels) {
      const { x, y, w, h } = panel.gridPos;
      expect(x + w).toBeLessThanOrEqual(24);
      for (let column = x; column < x + w; column += 1) {
        for (let line = y; line < y + h; line += 1) {
          const cell = `${column} ${line}`;
          expect([title, panel.title, taken.get(cell)]).toEqual([title, panel.title, undefined]);
          taken.set(cell, panel.title);
        }
      }
    }
  }
});

test('every metric that a dashboard asks for stands in the documentation', () => {
  const text = dashboards.map(({ panels, templating }) => JSON.stringify([panels, templating])).join('\n');
  const names = [...text.matchAll(/\b(?:watchpost|process|nodejs)_[a-z_]+/g)].map(([name]) => name);
  const known = new Set([...documented.matchAll(/`((?:watchpost|process|nodejs)_[a-z_]+)`/g)].map(([, name]) => name));
  expect(new Set(names).size).toBeGreaterThan(30);
  expect(names.filter((name) => !known.has(name.replace(/_bucket$/, '')))).toEqual([]);
});
