import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '#kernel/clock.ts';
import type { Random } from '#kernel/random.ts';
import type { Secret } from '#kernel/secret.ts';
import { dayMs } from '#kernel/units.ts';
import { isCheckType } from '#protocol/nodes.ts';
import type { NodeCommand } from '#service/ports.ts';

type CommandType = NodeCommand['spec']['type'];

/** What an id stands for: the command that a result is an answer to. */
export interface IssuedCommand {
  /** The only node that may hand it in. */
  readonly node: string;
  readonly type: CommandType;
  /** The name of the run, or null if its results are not stored. */
  readonly run: string | null;
  readonly issuedAt: number;
}

/** Makes and reads the ids of commands. */
export interface CommandIds {
  issue(command: Omit<IssuedCommand, 'issuedAt'>): string;
  /** What an id of ours stands for; null for any other, and for one that is too old. */
  read(id: string): IssuedCommand | null;
}

const Written = z.tuple([z.string(), z.string(), z.string().nullable(), z.number(), z.string()]);
const validMs = 8 * dayMs;
const clockMarginMs = 3_600_000;

/**
 * Ids that only the holder of the hub's key can make. A hub thus knows its own commands again after a restart, and needs no
 * list of them.
 */
export function createCommandIds(seed: Secret, clock: Clock, random: Random): CommandIds {
  // Made once: a key of bytes would be made ready again for each id.
  const key = createSecretKey(createHmac('sha256', seed.reveal()).update('watchpost run ticket v1').digest());
  const sign = (content: string) => createHmac('sha256', key).update(content).digest().subarray(0, 16);

  return {
    issue({ node, type, run }) {
      const content = JSON.stringify([node, type, run, clock.now(), random.id(12)]);
      return `${Buffer.from(content).toString('base64url')}.${sign(content).toString('base64url')}`;
    },
    read(id) {
      const [encoded = '', signature = ''] = id.split('.');
      const content = Buffer.from(encoded, 'base64url').toString();
      const given = Buffer.from(signature, 'base64url');
      const due = sign(content);
      if (given.length !== due.length || !timingSafeEqual(given, due)) return null;
      const [node, type, run, issuedAt] = Written.parse(JSON.parse(content));
      const ageMs = clock.now() - issuedAt;
      if (!isCheckType(type) || ageMs > validMs || ageMs < -clockMarginMs) return null;
      return { node, type, run, issuedAt };
    },
  };
}
