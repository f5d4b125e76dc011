import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'vitest';
import { mortal } from './children.ts';
import { needsProgram } from './programs.ts';

/** Debian's Firefox over WebDriver BiDi (w3.org/TR/webdriver-bidi), with one tab. */
export interface Firefox extends AsyncDisposable {
  /** What the browser complained about, and requests that went anywhere but to `origin`. */
  readonly complaints: string[];
  /** Loads a page, and whatever belongs to it. */
  goto(url: string): Promise<void>;
  /** The value of an expression in the page, undefined for null; of a promise what it resolves to. */
  evaluate(expression: string): Promise<unknown>;
  setViewport(width: number, height: number): Promise<void>;
}

interface Reply {
  readonly id?: number;
  readonly type: 'success' | 'error' | 'event';
  readonly result?: Readonly<Record<string, unknown>>;
  readonly message?: string;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

interface Evaluated {
  readonly type: 'success' | 'exception';
  readonly result?: { readonly type: string; readonly value?: unknown };
  readonly exceptionDetails?: { readonly text: string };
}

// Everything that is not asked for in the test goes to a proxy that is not there.
const preferences = {
  'network.proxy.type': 1,
  'network.proxy.http': '127.0.0.1',
  'network.proxy.http_port': 9,
  'network.proxy.ssl': '127.0.0.1',
  'network.proxy.ssl_port': 9,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'services.settings.server': 'data:,#none',
  'app.normandy.enabled': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.page': 0,
  // Processes for tabs that nobody opens.
  'dom.ipc.processPrelaunch.enabled': false,
};

/** Skips the test where it is not installed; fails it in CI. */
export async function openFirefox(context: TestContext, origin: string): Promise<Firefox> {
  needsProgram(context, 'firefox-esr', 'firefox-esr');
  const profile = await mkdtemp(join(tmpdir(), 'watchpost-firefox-'));
  const lines = Object.entries(preferences).map(([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});\n`);
  await writeFile(join(profile, 'user.js'), lines.join(''));
  const words = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0'];
  const child = mortal(
    spawn('firefox-esr', words, { env: { ...process.env, HOME: profile }, stdio: ['ignore', 'ignore', 'pipe'] }),
  );
  const exited = once(child, 'exit');
  const socket = new WebSocket(`${await addressOf(child.stderr)}/session`);
  await once(socket, 'open');

  const waiting = new Map<number, (reply: Reply) => void>();
  const complaints: string[] = [];
  socket.addEventListener('message', ({ data }) => {
    const reply = JSON.parse(String(data)) as Reply;
    if (reply.id !== undefined) waiting.get(reply.id)?.(reply);
    else complaints.push(...complaintsIn(reply, origin));
  });
  let count = 0;
  async function send(method: string, params: object): Promise<Readonly<Record<string, unknown>>> {
    count += 1;
    const id = count;
    const reply = await new Promise<Reply>((resolve) => {
      waiting.set(id, resolve);
      socket.send(JSON.stringify({ id, method, params }));
    });
    waiting.delete(id);
    if (reply.type === 'error') throw new Error(`${method}: ${reply.message}`);
    return reply.result ?? {};
  }

  await send('session.new', { capabilities: {} });
  await send('session.subscribe', { events: ['log.entryAdded', 'network.beforeRequestSent'] });
  const { context: tab } = await send('browsingContext.create', { type: 'tab' });
  return {
    complaints,
    async goto(url) {
      await send('browsingContext.navigate', { context: tab, url, wait: 'complete' });
    },
    async evaluate(expression) {
      const answer = await send('script.evaluate', { expression, target: { context: tab }, awaitPromise: true });
      const { type, result, exceptionDetails } = answer as unknown as Evaluated;
      if (type === 'exception') throw new Error(exceptionDetails?.text);
      return result?.value;
    },
    async setViewport(width, height) {
      await send('browsingContext.setViewport', { context: tab, viewport: { width, height } });
    },
    async [Symbol.asyncDispose]() {
      child.kill();
      await exited;
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function addressOf(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const [, address] = /^WebDriver BiDi listening on (ws:\S+)$/.exec(line) ?? [];
    if (address === undefined) continue;
    output.resume();
    return address;
  }
  throw new Error('Firefox ended before it listened');
}

function complaintsIn({ method, params = {} }: Reply, origin: string): readonly string[] {
  if (method === 'log.entryAdded') {
    const { level, text } = params as { level?: string; text?: string };
    return level === 'error' || level === 'warn' ? [`console: ${text}`] : [];
  }
  const { request } = params as { request?: { url: string } };
  const { protocol, origin: asked, href } = new URL(request?.url ?? 'about:blank');
  return !protocol.startsWith('http') || asked === origin ? [] : [`foreign: ${href}`];
}
