import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { WatchpostError } from '#kernel/errors.ts';
import type { Devices } from '#subscriptions/devices.ts';
import type { AccessControl } from '../access/access.ts';
import { isOwnForm, readForms } from '../access/caller.ts';
import { devicesContent } from './devices.ts';
import { devicesTexts } from './devices-texts.ts';
import type { PageSet } from './site.ts';
import { texts } from './texts.ts';

/** The devices that get notifications, and who may be notified by them. */
export interface DevicePages extends Devices {
  /** The names under `notify` that have `push`. */
  recipients(): readonly string[];
  /** The key by which push services know this installation, in base64url. */
  publicKey(): string;
}

export interface DeviceRoutes {
  readonly devices: DevicePages;
  readonly access: AccessControl;
  readonly site: PageSet;
}

const Text = z.string().trim().max(4_096).catch('');
const Added = z.object({ recipient: Text, name: Text, endpoint: Text, p256dh: Text, auth: Text });
const Removed = z.object({ id: Text });

/** The page that lists devices, and what its forms send: only for users who may act, and only from pages of ours. */
export function addDevices(app: FastifyInstance, { devices, access, site }: DeviceRoutes): void {
  function show(request: FastifyRequest, reply: FastifyReply, objection: string | null) {
    const value = { devices: devices.list(), recipients: devices.recipients(), publicKey: devices.publicKey() };
    const { headers, body } = site.page({
      user: access.userOf(request),
      title: devicesTexts.title,
      place: 'incidents',
      content: devicesContent({ ...value, mayAct: access.mayAct(request), objection }),
      modules: ['devices.js'],
    });
    return reply
      .code(objection === null ? 200 : 400)
      .headers(headers)
      .send(body);
  }

  void app.register(async (forms) => {
    readForms(forms);
    forms.get('/devices', (request, reply) => show(request, reply, null));
    forms.addHook('onRequest', async (request, reply) => {
      if (request.method === 'GET' || request.method === 'HEAD') return;
      if (access.mayAct(request) && isOwnForm(request)) return;
      const { headers, body } = site.problem({ status: 403, code: 'forbidden', message: texts.problems.mayNotAct });
      await reply.code(403).headers(headers).send(body);
    });
    forms.post('/actions/devices/add', (request, reply) => {
      const { name, ...subscription } = Added.parse(request.body ?? {});
      const origin = `${request.protocol}://${request.host}`;
      try {
        const named = name === '' ? 'unnamed' : name;
        devices.add({ ...subscription, name: named, user: access.userOf(request), origin });
      } catch (error) {
        if (!(error instanceof WatchpostError && error.code === 'usage')) throw error;
        return show(request, reply, error.message);
      }
      return reply.redirect('/devices', 303);
    });
    forms.post('/actions/devices/remove', (request, reply) => {
      devices.remove(Removed.parse(request.body ?? {}).id);
      return reply.redirect('/devices', 303);
    });
  });
}
