import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { gzip } from 'node:zlib';
import type { FastifyPluginAsync } from 'fastify';
import { z } from 'zod';
import { errorBody } from '#protocol/errors.ts';
import { loadWorld, type WorldMap } from './world.ts';

/** A file that browsers load for a page. */
export interface Asset {
  readonly type: string;
  readonly body: Buffer;
  readonly compressed: Buffer;
}

/** What pages are made with besides markup: a style sheet, scripts, the map. */
export interface Assets {
  /** Where browsers find the asset of this name; another place as soon as its content is another. */
  url(name: string): string;
  find(file: string): Asset | null;
  readonly world: WorldMap;
}

/** Reads, strips and packs everything once. Rejects if a file is not there. */
export async function loadAssets(): Promise<Assets> {
  const [world, scripts, style, uplotScript, uplotStyle] = await Promise.all([
    loadWorld(),
    loadScripts(),
    readFile(new URL('style.css', import.meta.url), 'utf8'),
    readFile(packaged.resolve('uplot/dist/uPlot.iife.min.js'), 'utf8'),
    readFile(packaged.resolve('uplot/dist/uPlot.min.css'), 'utf8'),
  ]);
  const texts = new Map([
    ...Object.entries(scripts).map(([name, text]) => [name.replace(/ts$/, 'js'), text] as const),
    ['style.css', style],
    ['uplot.js', uplotScript],
    ['uplot.css', uplotStyle],
    ['world.svg', world.image],
    ['icon.svg', iconOf('#0b6e6e', 'M6 19h5l3-9 5 14 3-7h4')],
    ['icon-unknown.svg', iconOf('#66717b', 'M11 12a5 5 0 1 1 7 4.6q-2 1-2 3.4m0 4v.4')],
    ['app.webmanifest', JSON.stringify(manifest)],
  ]);
  const urls = new Map<string, string>();
  const files = new Map<string, Asset>();
  for (const [name, text] of inOrder(texts)) {
    const body = ownCopy(Buffer.from(withUrls(text, urls)));
    const hash = createHash('sha256').update(body).digest('hex').slice(0, 12);
    const file = name.replace('.', `.${hash}.`);
    const type = types[name.slice(name.indexOf('.') + 1)] ?? 'application/octet-stream';
    files.set(file, { type, body, compressed: ownCopy(await compress(body, { level: 9 })) });
    urls.set(name, `/assets/${file}`);
  }
  return {
    world,
    find: (file) => files.get(file) ?? null,
    url(name) {
      const url = urls.get(name);
      if (url === undefined) throw new RangeError(`no asset "${name}"`);
      return url;
    },
  };
}

const imported = /(?<=\bfrom )'\.\/([\w-]+)\.[jt]s'/g;

/** Each script after those that it imports. */
function inOrder(texts: ReadonlyMap<string, string>): readonly (readonly [string, string])[] {
  const done = new Map<string, string>();
  const add = (name: string) => {
    const text = texts.get(name);
    if (text === undefined || done.has(name)) return;
    for (const [, other] of text.matchAll(imported)) add(`${other}.js`);
    done.set(name, text);
  };
  for (const name of texts.keys()) add(name);
  return [...done];
}

const withUrls = (text: string, urls: ReadonlyMap<string, string>): string =>
  text
    .replaceAll(imported, (whole, name: string) => `'${urls.get(`${name}.js`) ?? whole}'`)
    .replaceAll(/"asset:([\w.-]+)"/g, (whole, name: string) => `"${urls.get(name) ?? whole}"`);

/** `/assets/`: everything may be kept for ever, because its name changes with its content. */
export function assetRoutes(assets: Assets): FastifyPluginAsync {
  return async (app) => {
    app.get<{ Params: { file: string } }>('/assets/:file', (request, reply) => {
      const asset = assets.find(request.params.file);
      if (asset === null) return reply.code(404).send(errorBody('not_found', 'there is no such file here'));
      reply
        .type(asset.type)
        .header('cache-control', 'public, max-age=31536000, immutable')
        .header('vary', 'accept-encoding');
      if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(asset.body);
      return reply.header('content-encoding', 'gzip').send(asset.compressed);
    });
  };
}

// A small buffer lies in a slab of 64 kB with others, all of which stays as long as it does.
function ownCopy(bytes: Buffer): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  own.set(bytes);
  return own;
}

const packaged = createRequire(import.meta.url);
const compress = promisify(gzip);

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  webmanifest: 'application/manifest+json',
};

// Makes the pages installable (W3C Web Application Manifest).
const manifest = {
  name: 'Watchpost',
  start_url: '/',
  display: 'standalone',
  background_color: '#0f1315',
  theme_color: '#0b6e6e',
  icons: [{ src: 'asset:icon.svg', sizes: 'any', type: 'image/svg+xml' }],
};

const iconOf = (ground: string, line: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="${ground}"/>` +
  `<path d="${line}" fill="none" stroke="#fff" stroke-width="2.6" stroke-linecap="round" stroke-linejoin="round"/></svg>`;

async function loadScripts(): Promise<Readonly<Record<string, string>>> {
  const folder = new URL('../browser/', import.meta.url);
  const names = (await readdir(folder)).filter((name) => /\.[jt]s$/.test(name));
  const texts = await Promise.all(
    names.map(async (name) => [name, await readFile(new URL(name, folder), 'utf8')] as const),
  );
  const sources = texts.filter(([name]) => name.endsWith('.ts'));
  // The program as plain JavaScript has them stripped already.
  if (sources.length === 0) return Object.fromEntries(texts);
  const worker = new Worker(new URL('./strip.ts', import.meta.url), {
    workerData: Object.fromEntries(sources),
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  return new Promise((resolve, reject) => {
    worker.once('message', (message) => resolve(z.record(z.string(), z.string()).parse(message)));
    worker.once('error', reject);
  });
}
