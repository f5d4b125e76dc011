import { globSync } from 'node:fs';
import { join } from 'node:path';
import type { CodeSplittingOptions } from 'rolldown';

// What main.ts loads for all commands but one.
const program = 'cli/run-program.ts';

// The sources that begin what is always loaded together.
const starts: Readonly<Record<string, readonly string[]>> = {
  main: ['main.ts', program],
  commands: ['cli/program.ts'],
  hub: ['cli/run/run.ts'],
  node: ['node/thread.ts', 'checks/{ping,traceroute,mtr,plugin,docker,systemd}/probe.ts'],
  chores: ['store/chore-thread.ts'],
  guard: ['cli/run/stop-guard-thread.ts'],
};

const everywhere = Object.keys(starts)
  .filter((start) => start !== 'guard')
  .join('-');

// Loaded with little else, again and again.
const alone = ['cli/run/plain-health.ts', 'cli/beat/plain-beat.ts'];

// What a node loads with the first target of a type.
const later = ['checks/*/probe.ts'];

/**
 * One chunk for all modules under `from` that the same starts load, so that none loads what it does not need: to load a file takes a
 * millisecond or two of CPU, and the bundler's own chunks were 172 of them for a hub and 99 for each node. Entries stay by
 * themselves, as what no start loads.
 */
export function chunksByStart(from: string, entries: readonly string[]): CodeSplittingOptions {
  const names = new Map<string, string>();

  function nameAll(importsOf: (module: string) => readonly string[]): void {
    const loaded = new Map(
      Object.entries(starts).map(([start, patterns]) => [start, loadedBy(filesOf(from, patterns), importsOf)]),
    );
    // What probes share with the hub is as if the start of a node loaded it: a node must not load with them what else the hub has, schemas
    // above all.
    const others = new Set([...loaded.values()].flatMap((modules) => [...modules]));
    const shared = [...loadedBy(filesOf(from, later), importsOf)].filter((module) => others.has(module));
    for (const [start, modules] of loaded)
      for (const module of start === 'node' ? new Set([...modules, ...shared]) : modules)
        names.set(module, names.has(module) ? `${names.get(module)}-${start}` : start);
    // It is little, and the chunks that it would be in are not: what others load of it as well is with what all load.
    for (const module of loadedBy(filesOf(from, alone), importsOf))
      if (names.has(module)) names.set(module, everywhere);
    // It is little, all starts load most of it, and it imports nothing else of ours.
    for (const module of loaded.get('guard') ?? []) names.set(module, 'guard');
    // It comes between zod and the first schema: what a chunk imports is run before all of it.
    names.set(join(from, 'kernel/light-schemas.ts'), 'light-schemas');
    for (const module of names.keys()) if (module.includes('/node_modules/zod/')) names.set(module, 'zod');
    for (const entry of [...entries, ...filesOf(from, [program])]) names.delete(entry);
    // What main.ts alone loads is part of it.
    for (const [module, name] of names) if (name === 'main') names.delete(module);
  }

  return {
    groups: [
      {
        debugName: 'starts',
        name(id, graph) {
          if (names.size === 0) nameAll((module) => graph.getModuleInfo(module)?.importedIds ?? []);
          return names.get(id);
        },
        // What a chunk imports is loaded by as many starts or more: chunks cannot import each other.
        includeDependenciesRecursively: false,
      },
    ],
  };
}

function filesOf(from: string, patterns: readonly string[]): readonly string[] {
  const files = globSync([...patterns], { cwd: from });
  if (files.length < patterns.length) throw new Error(`not all of these are there: ${patterns.join(', ')}`);
  return files.map((file) => join(from, file));
}

function loadedBy(files: readonly string[], importsOf: (module: string) => readonly string[]): ReadonlySet<string> {
  const found = new Set(files);
  for (const module of found) for (const imported of importsOf(module)) found.add(imported);
  return found;
}
