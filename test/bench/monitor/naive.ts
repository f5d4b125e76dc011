import { get } from 'node:http';
import { connect } from 'node:net';
import { answerQuestions } from '../tools/processes.ts';
import type { BenchTarget } from './targets.ts';

// The least that Node can do: a timer for each target, spread over the interval, and a bare request; nothing is measured, judged
// or kept.

export interface NaiveLoad {
  readonly targets: readonly BenchTarget[];
  readonly ports: { readonly http: number; readonly tcp: number };
  readonly intervalMs: number;
}

answerQuestions(async ({ targets, ports, intervalMs }: NaiveLoad) => {
  for (const [index, { type, address: host }] of targets.entries()) {
    const check = () => {
      if (type === 'tcp') {
        const socket = connect({ host, port: ports.tcp }, () => socket.destroy());
        socket.on('error', () => {});
      } else {
        get({ host, port: ports.http, agent: false }, (response) => response.resume()).on('error', () => {});
      }
    };
    setTimeout(() => setInterval(check, intervalMs), (index * intervalMs) / targets.length);
  }
  return 'started';
});
