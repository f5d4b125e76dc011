import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closedPort } from '../../support/tcp-servers.ts';
import { answerQuestions, type Program, startServer } from '../tools/processes.ts';
import { type BenchedType, type Check, type Load, type Ports, runLoad } from './subject.ts';

const modules = `modules:
  http: { prober: http, timeout: 10s, http: { preferred_ip_protocol: ip4 } }
  tcp: { prober: tcp, timeout: 5s, tcp: { preferred_ip_protocol: ip4 } }
  ping: { prober: icmp, timeout: 3s, icmp: { preferred_ip_protocol: ip4 } }
  dns: { prober: dns, timeout: 5s, dns: { preferred_ip_protocol: ip4, query_name: host.example, query_type: A } }
`;

/** The types that blackbox_exporter has a prober for. */
export const probedByBlackbox: readonly BenchedType[] = ['ping', 'http', 'tcp', 'dns'];

export interface Blackbox extends Program {
  readonly port: number;
}

/** Starts blackbox_exporter with one module for each type. */
export async function startBlackbox(): Promise<Blackbox> {
  const folder = await mkdtemp(join(tmpdir(), 'watchpost-bench-'));
  const path = join(folder, 'blackbox.yml');
  await writeFile(path, modules);
  const port = await closedPort();
  const program = await startServer(
    [
      'prometheus-blackbox-exporter',
      `--config.file=${path}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    `http://127.0.0.1:${port}/-/healthy`,
  );
  return {
    pid: program.pid,
    port,
    async [Symbol.asyncDispose]() {
      await program[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function targetOf(type: BenchedType, address: string, ports: Ports): string {
  switch (type) {
    case 'http':
      return `http://${address}:${ports.http}/`;
    case 'tcp':
      return `${address}:${ports.tcp}`;
    case 'dns':
      return `${address}:${ports.dns}`;
    default:
      return address;
  }
}

// As a process of its own it drives the exporter the way Prometheus does: one GET for each check, over connections that are kept.
if (process.argv[1] === import.meta.filename) {
  const port = Number(process.argv[2]);
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  const check: Check = async (type, address, ports) => {
    const path = `/probe?module=${type}&target=${encodeURIComponent(targetOf(type, address, ports))}`;
    return new Promise((resolve, reject) => {
      const request = get({ host: '127.0.0.1', port, path, agent }, (response) => {
        let text = '';
        response.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
        response.once('end', () => resolve(text.includes('\nprobe_success 1')));
      });
      request.on('error', reject);
    });
  };
  answerQuestions(async (load: Load) => runLoad(check, load));
}
