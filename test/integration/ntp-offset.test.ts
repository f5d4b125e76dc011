import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { systemClock } from '#kernel/clock.ts';
import { createProgram, eventually } from '../support/program.ts';

// RFC 5905, figure 8: a synchronised server whose clock is so far ahead.
function ntpReply(request: Buffer, aheadMs: number): Buffer {
  const reply = Buffer.alloc(48);
  reply.set([0x24, 1]);
  reply.set(request.subarray(40, 48), 24);
  const seconds = ((systemClock.now() + aheadMs) / 1e3 + 2_208_988_800) % 2 ** 32;
  for (const at of [32, 40]) {
    reply.writeUInt32BE(Math.floor(seconds), at);
    reply.writeUInt32BE(Math.floor((seconds % 1) * 2 ** 32), at + 4);
  }
  return reply;
}

test('the daemon exports the offset of an NTP server, and a wrong clock is down', async () => {
  const socket = createSocket('udp4');
  socket.on('message', (request, from) => socket.send(ntpReply(request, 3_600_000), from.port, from.address));
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  await using program = await createProgram();
  const { url } = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
targets:
  any: { check: udp, host: "127.0.0.1:${socket.address().port}", send: ntp, every: 1s, timeout: 900ms }
  exact: { check: udp, host: "127.0.0.1:${socket.address().port}", send: ntp, offset_below: 10m, every: 1s, timeout: 900ms }
`);
  const figureOf = async (metric: string, target: string) => {
    const lines = (await (await fetch(`${url}/metrics`)).text()).split('\n');
    const line = lines.find((one) => one.startsWith(`${metric}{`) && one.includes(`target="${target}"`));
    return line === undefined ? null : Number(line.slice(line.lastIndexOf(' ') + 1));
  };
  for (const [target, up] of [
    ['any', 1],
    ['exact', 0],
  ] as const) {
    await eventually(60_000, async () => expect(await figureOf('watchpost_up', target)).toBe(up));
    const offset = await figureOf('watchpost_ntp_clock_offset_seconds', target);
    expect(offset).toBeGreaterThan(3_540);
    expect(offset).toBeLessThan(3_660);
  }
  socket.close();
  await once(socket, 'close');
}, 120_000);
