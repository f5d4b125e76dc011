import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type CheckTypeName, startableTypeNames } from '#checks/index.ts';
import { WatchpostError } from '#kernel/errors.ts';
import type { AccessControl } from '../access/access.ts';
import { isOwnForm, readForms } from '../access/caller.ts';
import { editTexts } from './edit-texts.ts';
import { targetHref } from './links.ts';
import { newTargetContent, type NewTargetValue } from './new-target.ts';
import type { PageSet } from './site.ts';

/** A target as a form gives it; empty texts are for what is usual. */
export interface EnteredTarget {
  readonly host: string;
  readonly type: CheckTypeName | '';
  readonly name: string;
  readonly every: string;
}

/** Changes of the targets in the configuration. What is wrong with one is a `usage` or a `config_invalid`, a line for each mistake. */
export interface TargetEdits {
  /** Gives its name. */
  add(entered: EnteredTarget): Promise<string>;
  remove(target: string): Promise<void>;
  /** Takes the last change back. */
  undo(): Promise<void>;
  /** Checks it from all nodes, and gives the name of the run. */
  try(entered: EnteredTarget): Promise<string>;
  /** What was entered, with what is usual filled in. */
  propose(entered: EnteredTarget): EnteredTarget;
  readonly canTry: boolean;
}

export interface EditRoutes {
  readonly edits: TargetEdits;
  readonly access: AccessControl;
  readonly site: PageSet;
}

const Text = z.string().trim().max(2_048).catch('');
const Entered = z.object({
  host: Text,
  type: z.enum(startableTypeNames).or(z.literal('')).catch(''),
  name: Text,
  every: Text,
});
const Asked = Entered.extend({
  run: z.string().max(100).nullable().catch(null),
  removed: z.string().max(100).nullable().catch(null),
  undone: z.string().optional().catch(undefined),
});
const Removal = z.object({ target: z.string().min(1).max(100) });

/** The page that adds a target, and what its forms send: for users who have signed in, and from pages of ours only. */
export function addEditing(app: FastifyInstance, { edits, access, site }: EditRoutes): void {
  const show = (reply: FastifyReply, request: FastifyRequest, value: Partial<NewTargetValue> & EnteredTarget) => {
    const usual = { run: null, objections: [], removed: null, isUndone: false, canTry: edits.canTry };
    const content = newTargetContent({ ...usual, ...value });
    const { headers, body } = site.page({
      user: access.userOf(request),
      title: editTexts.title,
      place: 'overview',
      content,
    });
    return reply.headers(headers).send(body);
  };

  void app.register(async (forms) => {
    readForms(forms);
    forms.addHook('onRequest', async (request, reply) => {
      const isSafe = request.method === 'GET' || request.method === 'HEAD' || isOwnForm(request);
      if (access.userOf(request) !== null && isSafe) return;
      const { headers, body } = site.problem({ status: 403, code: 'forbidden', message: editTexts.mayNotEdit });
      await reply.code(403).headers(headers).send(body);
    });
    forms.setErrorHandler((error, request, reply) => {
      const isWrong = error instanceof WatchpostError && (error.code === 'usage' || error.code === 'config_invalid');
      if (!isWrong) throw error;
      const entered = Entered.parse(request.body ?? {});
      return show(reply.code(400), request, { ...entered, objections: error.message.split('\n') });
    });
    forms.get('/add', (request, reply) => {
      const { undone, ...asked } = Asked.parse(request.query);
      return show(reply, request, { ...asked, isUndone: undone !== undefined });
    });
    forms.post('/actions/targets/try', async ({ body }, reply) => {
      const entered = edits.propose(Entered.parse(body));
      const run = await edits.try(entered);
      return reply.redirect(`/add?${new URLSearchParams({ ...entered, run }).toString()}`, 303);
    });
    forms.post('/actions/targets/add', async ({ body }, reply) => {
      const name = await edits.add(edits.propose(Entered.parse(body)));
      return reply.redirect(targetHref(name), 303);
    });
    forms.post('/actions/targets/remove', async ({ body }, reply) => {
      const { target } = Removal.parse(body);
      await edits.remove(target);
      return reply.redirect(`/add?${new URLSearchParams({ removed: target }).toString()}`, 303);
    });
    forms.post('/actions/targets/undo', async (_, reply) => {
      await edits.undo();
      return reply.redirect('/add?undone=1', 303);
    });
  });
}
