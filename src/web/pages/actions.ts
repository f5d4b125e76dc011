import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { WatchpostError } from '#kernel/errors.ts';
import { Duration } from '#kernel/unit-schemas.ts';
import type { AccessControl } from '../access/access.ts';
import { isOwnForm, readForms } from '../access/caller.ts';
import { incidentHref } from './links.ts';
import type { PageSet } from './site.ts';
import { texts } from './texts.ts';

/** What can be done from pages. What is asked wrongly throws `usage`. */
export interface Actions {
  acknowledge(incident: string, why: string): Promise<unknown>;
  /** Runs the check of a target from all nodes, and gives the name of the run. */
  check(target: string): Promise<string>;
  silence(asked: { readonly targets: readonly string[]; readonly forMs: number; readonly why: string }): unknown;
}

export interface ActionRoutes {
  readonly actions: Actions;
  readonly access: AccessControl;
  readonly site: PageSet;
}

const Acknowledge = z.object({ incident: z.string().min(1).max(300), why: z.string().trim().min(1).max(200) });
const Check = z.object({ target: z.string().min(1).max(100) });
const Silence = z.object({
  incident: z.string().max(300),
  target: z.string().min(1).max(100),
  for: Duration({ min: '1m', max: '365d' }),
  why: z.string().trim().min(1).max(200),
});

/** What the forms of pages send: only for those who may act, and only from pages of ours. */
export function addActions(app: FastifyInstance, { actions, access, site }: ActionRoutes): void {
  void app.register(async (forms) => {
    readForms(forms);
    forms.addHook('onRequest', async (request, reply) => {
      if (access.mayAct(request) && isOwnForm(request)) return;
      const { headers, body } = site.problem({ status: 403, code: 'forbidden', message: texts.problems.mayNotAct });
      await reply.code(403).headers(headers).send(body);
    });
    forms.setErrorHandler((error, _, reply) => {
      const isWrong = error instanceof z.ZodError || (error instanceof WatchpostError && error.code === 'usage');
      if (!isWrong) throw error;
      const message = error instanceof z.ZodError ? z.prettifyError(error) : error.message;
      const { headers, body } = site.problem({ status: 400, code: 'bad_request', message });
      return reply.code(400).headers(headers).send(body);
    });
    forms.post('/actions/acknowledge', async ({ body }, reply) => {
      const { incident, why } = Acknowledge.parse(body);
      await actions.acknowledge(incident, why);
      return reply.redirect(incidentHref(incident), 303);
    });
    forms.post('/actions/check', async ({ body }, reply) => {
      const { target } = Check.parse(body);
      const run = await actions.check(target);
      return reply.redirect(`/check-report/${run}?${new URLSearchParams({ target }).toString()}`, 303);
    });
    forms.post('/actions/silence', async ({ body }, reply) => {
      const { incident, target, for: forMs, why } = Silence.parse(body);
      actions.silence({ targets: [target], forMs, why });
      return reply.redirect(incidentHref(incident), 303);
    });
  });
}
