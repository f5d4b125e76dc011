import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import http from 'node:http';
import { builtinModules, stripTypeScriptTypes } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { build, type OutputChunk, type OutputOptions, type Plugin } from 'rolldown';
import { drawWorld } from '../src/web/assets/draw-world.ts';
import { chunksByStart } from './chunks.ts';
import { inOneByte } from './one-byte.ts';

// Writes the program to dist/ as the package and the image have it: minified chunks of src/ and of the packages that it uses,
// because V8 keeps the source of every module in memory. An argument is another folder. `import()` stays a chunk of its own. In a
// checkout nothing uses dist/.

const root = join(import.meta.dirname, '..');
const from = join(root, 'src');
const to = resolve(process.argv[2] ?? join(root, 'dist'));

// They load addons by their own path, or are read as files.
const kept = ['better-sqlite3', 'koffi', 'uplot'];
// Packages try them and go on without.
const optional = ['pg-native', 'bufferutil', 'utf-8-validate', 'cpu-features', /sshcrypto\.node$/];
// Packages load them only if they are asked for what the program does not use: see noSchemas in src/web/app.ts.
const unused = ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler'];
// Loaded by `require` when they are first used: a file for each.
const required = ['json-p3', 'liquidjs', 'pino-pretty', 're2js', 'ssh2', 'tldts', 'undici/lib/llhttp/llhttp-wasm.js'];

const isHttp = (name: string | RegExp) => name === 'http' || name === 'node:http';
const builtins = builtinModules.flatMap((name) => [name, `node:${name}`]);
const external = [...kept, ...optional, ...unused, ...builtins, /^node:(?!http$)/].filter((one) => !isHttp(one));
// Names of functions and classes stay: they are in stack traces, and packages ask for them.
const written: OutputOptions = {
  dir: to,
  comments: false,
  minify: { compress: { keepNames: { function: true, class: true } }, mangle: { keepNames: true }, codegen: true },
  sourcemap: true,
  sourcemapExcludeSources: true,
};
// A file beside a source: `new URL('x', import.meta.url)`.
const namedFile = /\bnew URL\(\s*'([^']+)',\s*import\.meta\.url,?\s*\)/g;

rmSync(to, { recursive: true, force: true });
const chunks = [...(await writeProgram()), ...(await writeRequired())];
for (const { fileName } of chunks) narrow(fileName);
copyFiles();
writeFileSync(join(to, 'web/assets/world.json'), JSON.stringify(await drawWorld()));
writeFileSync(join(to, 'packages.txt'), `${installed(kept).join('\n')}\n`);
writeFileSync(join(to, 'LICENSES.txt'), licencesOf(chunks));

async function writeProgram(): Promise<readonly OutputChunk[]> {
  const threads = globSync('**/*.ts', { cwd: from }).flatMap((file) =>
    [...readFileSync(join(from, file), 'utf8').matchAll(namedFile)].flatMap(([, name = '']) =>
      /\.[jt]s$/.test(name) ? [join(dirname(file), name)] : [],
    ),
  );
  const entries = ['main.ts', ...threads].map((file) => [entryName(file), join(from, file)] as const);
  const { output } = await build({
    cwd: root,
    input: Object.fromEntries(entries),
    platform: 'node',
    external,
    plugins: [lightHttp(), ownFiles()],
    preserveEntrySignatures: false,
    // A check type is loaded with others by the hub, and by itself in a node.
    checks: { ineffectiveDynamicImport: false },
    output: {
      ...written,
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: '[name]-[hash].js',
      codeSplitting: chunksByStart(
        from,
        entries.map(([, file]) => file),
      ),
    },
  });
  return output.filter((one) => one.type === 'chunk');
}

async function writeRequired(): Promise<readonly OutputChunk[]> {
  const all = await Promise.all(
    required.map(async (name) =>
      build({
        cwd: root,
        input: { [entryName(name)]: name },
        platform: 'node',
        external: [...external, 'http', 'node:http'],
        output: { ...written, format: 'cjs', entryFileNames: '[name].cjs', codeSplitting: false },
      }),
    ),
  );
  return all.flatMap(({ output }) => output.filter((one) => one.type === 'chunk'));
}

/** Has a chunk take one byte in memory for each of its characters. */
function narrow(name: string): void {
  const [file, mapFile] = [join(to, name), join(to, `${name}.map`)];
  const code = readFileSync(file, 'utf8');
  const map = existsSync(mapFile) ? (JSON.parse(readFileSync(mapFile, 'utf8')) as { mappings: string }) : null; // oxlint-disable-line typescript/no-unsafe-type-assertion -- the bundler has written it
  const narrowed = inOneByte({ code, mappings: map?.mappings ?? '' });
  if (narrowed.code === code) return;
  writeFileSync(file, narrowed.code);
  if (map !== null) writeFileSync(mapFile, JSON.stringify({ ...map, mappings: narrowed.mappings }));
}

// `src/store/chore-thread.ts` is `dist/store-chore-thread.js`: as all chunks lie in dist/, `import.meta.url` is a place there.
function entryName(file: string): string {
  return file.replace(/\.[jt]s$/, '').replaceAll('/', '-');
}

/**
 * Takes `node:http` without its WebSocket, which nothing here uses: an `import` reads every export, and that one loads Node's
 * own undici, 2.4 MB of objects and 50 ms of CPU in each thread.
 */
function lightHttp(): Plugin {
  const light = '\0light-http';
  const names = Object.entries(Object.getOwnPropertyDescriptors(http)).flatMap(([name, descriptor]) =>
    'value' in descriptor || ['globalAgent', 'maxHeaderSize'].includes(name) ? [name] : [],
  );
  return {
    name: 'light-http',
    resolveId(id, _importer, { kind }) {
      if (!isHttp(id)) return null;
      return kind === 'require-call' ? { id: 'node:http', external: true } : light;
    },
    load: (id) =>
      id === light
        ? `const http = process.getBuiltinModule('node:http');\nexport default http;\nexport const { ${names.join(', ')} } = http;`
        : null,
  };
}

/** Has each source find the files beside it and the packages that it requires, from wherever its chunk is. */
function ownFiles(): Plugin {
  return {
    name: 'own-files',
    transform(code, id) {
      if (!id.startsWith(`${from}/`)) return null;
      const file = relative(from, id);
      const imports: string[] = [];
      const text = code
        .replaceAll(namedFile, (_, name: string) => `new URL('${placeOf(file, name)}', import.meta.url)`)
        .replaceAll('import.meta.dirname', () => `\`\${import.meta.dirname}/${dirname(file)}\``)
        .replaceAll(/(\bload|createRequire\(import\.meta\.url\))\('([^']+)'\)/g, (_, load: string, name: string) => {
          if (required.includes(name)) return `${load}('./${entryName(name)}.cjs')`;
          imports.push(`import * as package${imports.length} from '${name}';`);
          return `package${imports.length - 1}`;
        });
      // Before the first line, so that all lines stay where they are.
      return text === code ? null : { code: `${imports.join('')}${text}`, map: null };
    },
  };
}

function placeOf(file: string, name: string): string {
  const path = join(dirname(file), name);
  return /\.[jt]s$/.test(name) ? `./${entryName(path)}.js` : `./${path}`;
}

/** What is read at run time, and what others import by name. */
function copyFiles(): void {
  for (const file of globSync('**/*.{css,liquid,json}', { cwd: from, exclude: ['**/tsconfig.json'] })) {
    mkdirSync(dirname(join(to, file)), { recursive: true });
    copyFileSync(join(from, file), join(to, file));
  }
  for (const file of globSync(['api-client/*.ts', 'web/browser/*.ts'], { cwd: from })) {
    mkdirSync(dirname(join(to, file)), { recursive: true });
    const text = stripTypeScriptTypes(readFileSync(join(from, file), 'utf8'));
    writeFileSync(join(to, file.replace(/\.ts$/, '.js')), text.replaceAll(/(\bfrom\s+'\.[^']+)\.ts'/g, "$1.js'"));
  }
}

/** The folders under node_modules of these packages and of what they depend on. */
function installed(names: readonly string[]): readonly string[] {
  const found = new Set<string>();
  const add = (name: string) => {
    const manifest = join(root, 'node_modules', name, 'package.json');
    if (found.has(name) || !existsSync(manifest)) return;
    found.add(name);
    const { dependencies = {}, optionalDependencies = {} } = manifestOf(manifest);
    for (const other of Object.keys({ ...dependencies, ...optionalDependencies })) add(other);
  };
  for (const name of names) add(name);
  return [...found].toSorted();
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

function manifestOf(path: string): Manifest {
  return JSON.parse(readFileSync(path, 'utf8')) as Manifest; // oxlint-disable-line typescript/no-unsafe-type-assertion -- npm has read it
}

/** The licence of each package that has a module in these chunks. */
function licencesOf(all: readonly OutputChunk[]): string {
  const folders = new Set(
    all.flatMap(({ moduleIds }) =>
      moduleIds.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id.replace(/^\0/, ''))?.[0] ?? []),
    ),
  );
  const texts = [...folders].toSorted().map((folder) => {
    const { name, version, license = 'see its text' } = manifestOf(join(folder, 'package.json'));
    const files = readdirSync(folder).filter((file) => /^(?:licen[cs]e|copying|notice)/i.test(file));
    const text = files.map((file) => readFileSync(join(folder, file), 'utf8').trim()).join('\n\n');
    return `${name} ${version} (${license})\n\n${text}`.trim();
  });
  return `Packages whose code is part of this program, and their licences.\n\n${texts.join(`\n\n${'-'.repeat(72)}\n\n`)}\n`;
}
