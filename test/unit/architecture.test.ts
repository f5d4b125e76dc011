import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { expect, test } from 'vitest';

const root = new URL('../../src/', import.meta.url).pathname;

// Who may import whom: a room, a file, or `room/file`. Within a room everything is allowed. The rooms inside the monitor stand
// by themselves; what lies in its folder beside them puts them together.
const table: Record<string, readonly string[]> = {
  kernel: [],
  checks: ['kernel'],
  schedule: ['kernel'],
  history: ['kernel', 'checks/index.ts'],
  protocol: ['kernel', 'checks/index.ts'],
  service: ['kernel', 'protocol', 'schedule', 'checks/index.ts'],
  node: ['kernel', 'protocol', 'schedule', 'checks/index.ts', 'checks/node-types.ts'],
  'monitor/judge': ['kernel', 'schedule', 'checks/index.ts', 'history'],
  'monitor/suppress': ['kernel', 'checks/index.ts', 'monitor/judge'],
  'monitor/evidence': ['kernel', 'checks/index.ts', 'history', 'monitor/judge'],
  'monitor/watch': ['kernel', 'schedule', 'checks/index.ts', 'monitor/judge'],
  'monitor/heartbeats': ['kernel', 'schedule', 'checks/index.ts', 'monitor/judge'],
  'monitor/notify': ['kernel', 'schedule', 'history', 'monitor/judge'],
  monitor: [
    'kernel',
    'schedule',
    'checks/index.ts',
    'history',
    'monitor/judge',
    'monitor/suppress',
    'monitor/watch',
    'monitor/heartbeats',
    'monitor/notify',
  ],
  config: [
    'kernel',
    'schedule',
    'checks/index.ts',
    'channels/index.ts',
    'languages',
    'history/budget.ts',
    'history/reader.ts',
    'monitor/judge/rule.ts',
    'monitor/judge/target.ts',
    'monitor/judge/recipient.ts',
    'monitor/suppress/maintenance.ts',
    'monitor/notify/delivery-policy.ts',
    'monitor/notify/hours.ts',
  ],
  import: ['kernel', 'checks/index.ts', 'config'],
  transport: ['kernel', 'protocol', 'service/ports.ts', 'node/ports.ts'],
  enrolment: [
    'kernel',
    'config/hub.ts',
    'config/shape/enrolled.ts',
    'config/shape/sections.ts',
    'transport/nats/keys.ts',
    'transport/nats/permissions.ts',
  ],
  'api-client': [],
  client: ['kernel', 'protocol', 'checks/index.ts', 'monitor/judge/vote.ts', 'monitor/watch/runner.ts'],
  channels: [
    'kernel',
    'monitor/judge',
    'monitor/notify/channel.ts',
    'monitor/notify/content.ts',
    'monitor/notify/delivery-policy.ts',
    'subscriptions/device-store.ts',
    'subscriptions/subscriber-mail.ts',
  ],
  store: [
    'kernel',
    'history',
    'checks/index.ts',
    'monitor/judge',
    'monitor/notify/delivery-limit.ts',
    'monitor/notify/delivery-store.ts',
    'monitor/store.ts',
    'service/ports.ts',
    'subscriptions/device-store.ts',
    'subscriptions/subscription-store.ts',
  ],
  cli: [
    'kernel',
    'schedule',
    'protocol',
    'history',
    'config',
    'client',
    'import',
    'enrolment',
    'compose',
    'compose.ts',
    'checks/index.ts',
    'channels/index.ts',
    'service/ports.ts',
    'service/select.ts',
    'node/agent.ts',
    'store/past.ts',
    'store/backup.ts',
    'store/chores.ts',
    'store/reading.ts',
    'hubs/peers.ts',
    'hubs/remarks.ts',
    'transport/nats/connection.ts',
    'transport/nats/keys.ts',
    'transport/nats/status.ts',
    'monitor/judge',
    'monitor/notify/sample-messages.ts',
    'monitor/watch/runner.ts',
  ],
  export: [
    'kernel',
    'checks/index.ts',
    'monitor/judge',
    'channels/call.ts',
    'channels/http-receipt.ts',
    'channels/signature.ts',
  ],
  hubs: ['kernel'],
  languages: ['kernel'],
  subscriptions: ['kernel', 'languages', 'monitor/notify/backoff.ts', 'monitor/notify/channel.ts'],
  metrics: ['kernel', 'history', 'checks/index.ts', 'monitor/judge'],
  web: [
    'kernel',
    'history',
    'protocol',
    'monitor/judge',
    'monitor/suppress/silence.ts',
    'monitor/notify/delivery-store.ts',
    'subscriptions',
    'web/state/notes.ts',
  ],
  'web/access': ['kernel'],
  'web/state': ['kernel', 'checks/index.ts', 'history', 'monitor/judge'],
  'web/live': ['kernel', 'checks/index.ts', 'languages', 'monitor/judge', 'web/state', 'web/pages', 'web/streams.ts'],
  'web/assets': ['protocol', 'web/browser'],
  'web/pages': [
    'kernel',
    'languages',
    'protocol',
    'checks/index.ts',
    'history',
    'monitor/judge',
    'service/ports.ts',
    'subscriptions',
    'web/access',
    'web/assets',
    'web/state',
    'web/streams.ts',
  ],
  'web/browser': [],
};

interface Import {
  readonly from: string;
  readonly to: string;
}

const files = globSync('**/*.ts', { cwd: root }).sort();

function importsOf(file: string): readonly Import[] {
  const text = readFileSync(join(root, file), 'utf8');
  const specifiers = text.matchAll(/(?:from|import|import\()\s*'([^']+)'|new URL\('([^']+)', import\.meta\.url\)/g);
  return [...specifiers].flatMap(([, imported, located]) => {
    const specifier = imported ?? located ?? '';
    if (specifier.startsWith('#')) return [{ from: file, to: specifier.slice(1) }];
    if (!specifier.startsWith('.')) return [];
    const to = normalize(relative(root, join(root, dirname(file), specifier)));
    // What lies beside `src` is no room.
    return to.startsWith('..') ? [] : [{ from: file, to }];
  });
}

const folderOf = (path: string) => (path.includes('/') ? path.slice(0, path.indexOf('/')) : path);

/** The innermost room of the table that a file lies in; its folder where the table has none. */
function roomOf(path: string): string {
  const folders = path.split('/').slice(0, -1);
  for (let depth = folders.length; depth > 0; depth -= 1) {
    const room = folders.slice(0, depth).join('/');
    if (room in table) return room;
  }
  return folderOf(path);
}

function allowed({ from, to }: Import): boolean {
  const rights = table[roomOf(from)];
  if (rights === undefined || roomOf(from) === roomOf(to)) return true;
  return rights.some((right) => to === right || roomOf(to) === right);
}

/** The groups of files that lead to each other, types counted; Tarjan's strongly connected components. */
function circles(): readonly (readonly string[])[] {
  const edges = new Map(files.map((file) => [file, importsOf(file).map(({ to }) => to)]));
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (file: string): void => {
    order.set(file, order.size);
    lowest.set(file, order.get(file) ?? 0);
    stack.push(file);
    for (const to of edges.get(file) ?? []) {
      if (!edges.has(to)) continue;
      if (!order.has(to)) visit(to);
      if (stack.includes(to)) lowest.set(file, Math.min(lowest.get(file) ?? 0, lowest.get(to) ?? 0));
    }
    if (lowest.get(file) !== order.get(file)) return;
    const circle = stack.splice(stack.indexOf(file));
    if (circle.length > 1) found.push(circle.sort());
  };
  for (const file of files) if (!order.has(file)) visit(file);
  return found;
}

test('every folder imports only what the table allows', () => {
  const imports = files.flatMap(importsOf);
  expect(imports.length).toBeGreaterThan(20);
  expect(imports.filter((one) => !allowed(one))).toEqual([]);
});

test('the table allows nothing that nobody needs', () => {
  const imports = files.flatMap(importsOf);
  const unused = Object.entries(table).flatMap(([room, rights]) =>
    rights
      .filter(
        (right) => !imports.some(({ from, to }) => roomOf(from) === room && (to === right || roomOf(to) === right)),
      )
      .map((right) => `${room}: ${right}`),
  );
  expect(unused).toEqual([]);
});

test('docs/development.md tells the same table', () => {
  const page = readFileSync(new URL('../../docs/development.md', import.meta.url), 'utf8');
  const [, told = ''] = /\| room \| purpose \| may import \|\n\| --- \| --- \| --- \|\n((?:\|.*\n)+)/.exec(page) ?? [];
  const rows = told
    .trim()
    .split('\n')
    .map((row) => row.split('|').map((cell) => cell.trim()));
  const nameOf = (right: string) => right.replace(/(?:\/index)?\.ts$/, '');
  expect(Object.fromEntries(rows.map(([, room, , rights]) => [room?.replaceAll('`', ''), rights]))).toEqual(
    Object.fromEntries(
      Object.entries(table).map(([room, rights]) => [
        room,
        [...new Set(rights.map(nameOf))].join(', ') || 'nothing of ours',
      ]),
    ),
  );
});

test('no files lead back to themselves, types counted', () => {
  expect(circles()).toEqual([]);
});

test('every folder of the program stands in the table', () => {
  const free = ['main.ts', 'compose.ts', 'compose', 'watchpost.js', 'worker.ts'];
  const rooms = new Set(files.map(roomOf));
  expect([...rooms].filter((folder) => !free.includes(folder) && !(folder in table))).toEqual([]);
});

test('a type import across folders goes through a # import', () => {
  const crossing = files.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/from '(\.\.?\/[^']+)'/g)]
      .map(([, specifier]) => ({ from: file, to: normalize(join(dirname(file), specifier ?? '')) }))
      .filter(({ from, to }) => folderOf(from) !== folderOf(to) && from.includes('/')),
  );
  expect(crossing).toEqual([]);
});

test('THE list of check types equals the folders', () => {
  const folders = new Set(globSync('checks/*/index.ts', { cwd: root }).map((path) => path.split('/')[1]));
  const listed = /export const checks = \[([^\]]*)\]/.exec(readFileSync(join(root, 'checks/index.ts'), 'utf8'))?.[1];
  const names = listed?.split(',').map((name) => name.trim());
  expect(new Set(names?.filter((name) => name !== ''))).toEqual(folders);
});

test('the folders of check types have one shape', () => {
  const model = ['detail.ts', 'index.ts', 'lines.ts', 'probe.ts', 'spec.ts'];
  const types = globSync('checks/*/index.ts', { cwd: root }).map((path) => dirname(path));
  for (const type of types) {
    const found = model.filter((file) => files.includes(`${type}/${file}`));
    // No node looks at what is heard of.
    const isHeard = /^ {2}heard:/m.test(read(`${type}/index.ts`));
    expect([type, found]).toEqual([type, model.filter((file) => !isHeard || file !== 'probe.ts')]);
    // A type that the interface does not know has no row, and says so.
    const hasRow = files.includes(`${type}/row.ts`);
    expect([type, /\brow: null\b/.test(readFileSync(join(root, type, 'index.ts'), 'utf8'))]).toEqual([type, !hasRow]);
    // All go through the gate, except to what is on the machine itself.
    if (!isHeard)
      expect(read(`${type}/probe.ts`)).toMatch(/\breach\b|\bconverseOver\b|\bstartPath\b|\baskEngine\b|\baskUnit\b/);
  }
});

test('shared code never asks which type a check is', () => {
  const asking = files.filter(
    (file) =>
      !file.startsWith('checks/') &&
      /(?:switch \(\w*spec\.type|(?:spec|check)\.type === ')/.test(readFileSync(join(root, file), 'utf8')),
  );
  expect(asking).toEqual([]);
});

test('every figure that metrics take has somebody who gives it', () => {
  const [, declared = ''] = /export interface Metrics \{([^}]*)\}/.exec(read('metrics/metrics.ts')) ?? [];
  const methods = [...declared.matchAll(/^ {2}(\w+)\(/gm)].map(([, name]) => name ?? '');
  expect(methods.length).toBeGreaterThan(6);
  const others = files.filter((file) => !file.startsWith('metrics/')).map(read);
  const idle = methods.filter((name) => !others.some((text) => new RegExp(`\\bmetrics\\.${name}\\b`).test(text)));
  expect(idle).toEqual([]);
});

test('an error that is caught is looked at, or a comment beside it says who tells of it', () => {
  const blind = /catch \{|\.catch\((?:async )?\(\) =>|^\s+\(\) => \{\},$|\.then\([^()]*, \(\) =>|on\('error', \(\) =>/;
  const silent = files.flatMap((file) => {
    const lines = read(file).split('\n');
    return lines.flatMap((line, index) => {
      const isTold = [lines[index - 1], lines[index + 1]].some((beside) => beside?.trim().startsWith('//'));
      return blind.test(line) && !isTold ? [`${file}: ${line.trim()}`] : [];
    });
  });
  expect(silent).toEqual([]);
});

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

test('what several hubs need is loaded only with them', () => {
  const loaded = loadedFrom(['compose.ts']);
  expect(loaded).toContain('store/sqlite.ts');
  const ofHubs = /^(hubs|compose\/hubs)[/.]|^store\/shared-(?!names)/;
  expect([...loaded].filter((file) => ofHubs.test(file))).toEqual([]);
  expect([...loadedFrom(['compose/hubs.ts'])].filter((file) => ofHubs.test(file)).length).toBeGreaterThan(10);
});

test('the thread of a node loads no schemas, and neither do the probes of check types', () => {
  const probes = files.filter((file) => /^checks\/\w+\/probe\.ts$/.test(file));
  const loaded = loadedFrom(['node/thread.ts', ...probes]);
  expect(loaded).toContain('checks/evidence/probe.ts');
  expect(
    [...loaded].filter((file) => /^zod\b|^kernel\/light-schemas\.ts$|^checks\/(?:\w+\/)?index\.ts$/.test(file)),
  ).toEqual([]);
});

/** The files that Node loads with these at once, and the packages: without what is imported for its types, or later. */
function loadedFrom(entries: readonly string[]): ReadonlySet<string> {
  const found = new Set(entries);
  for (const file of found) {
    if (!files.includes(file)) continue;
    const text = read(file).replaceAll(/^(?:im|ex)port type [^;]*;|\bimport\('[^']+'\)/gm, '');
    for (const [, to = ''] of text.matchAll(/\b(?:from|import) '([^']+)'/g))
      found.add(to.startsWith('.') ? normalize(join(dirname(file), to)) : to.replace(/^#/, ''));
  }
  return found;
}
