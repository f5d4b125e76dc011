import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type CheckTypeName, startableTypeNames } from '#checks/index.ts';
import { type ErrorCode, WatchpostError } from '#kernel/errors.ts';
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

export interface TargetPlace {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** Why people have to change it by hand, or null. */
  readonly byHand: string | null;
}

interface WrittenLines extends TargetPlace {
  readonly lines: string;
}

/** A target whose lines are to be others, and its lines as they were shown. */
export interface EditedLines {
  readonly name: string;
  readonly lines: string;
  readonly seen: string;
}

/** Changes of the targets in the configuration. What is wrong with one is a `usage` or a `config_invalid`, a line for each mistake. */
export interface TargetEdits {
  /** Gives its name. */
  add(entered: EnteredTarget): Promise<string>;
  remove(target: string): Promise<void>;
  /** Takes the last change back, and gives the name of its target, null if there is none now. */
  undo(): Promise<string | null>;
  readonly canUndo: boolean;
  /** Where a target of the configuration in force is written; null if that is in none of its files. */
  placeOf(target: string): Promise<TargetPlace | null>;
  /** The same as it is in the files now. */
  linesOf(target: string): Promise<WrittenLines | null>;
  /** Finds a change good, and gives the name that the target will have. `edit_conflict` says that its lines are others now. */
  review(changed: EditedLines): Promise<{ readonly name: string; readonly file: string }>;
  /** Checks a target as changed from all nodes, and gives the name of the run. */
  tryChanged(changed: EditedLines): Promise<string>;
  /** Writes it, and gives the name that the target has then. */
  change(changed: EditedLines): Promise<string>;
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

// What is wrong with an entry, or for now with the nodes, is said above the form, which keeps what was entered.
const statusOf: Partial<Record<ErrorCode, number>> = { usage: 400, config_invalid: 400, no_nodes: 503 };

/** A hook for users who have signed in, and for forms from pages of ours. */
export function onlyEditors(access: AccessControl, site: PageSet) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const isSafe = request.method === 'GET' || request.method === 'HEAD' || isOwnForm(request);
    if (access.userOf(request) !== null && isSafe) return;
    const { headers, body } = site.problem({ status: 403, code: 'forbidden', message: editTexts.mayNotEdit });
    await reply.code(403).headers(headers).send(body);
  };
}

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
    forms.addHook('onRequest', onlyEditors(access, site));
    forms.setErrorHandler((error, request, reply) => {
      const status = error instanceof WatchpostError ? statusOf[error.code] : undefined;
      if (!(error instanceof WatchpostError) || status === undefined) throw error;
      const entered = Entered.parse(request.body ?? {});
      return show(reply.code(status), request, { ...entered, objections: error.message.split('\n') });
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
      return reply.redirect(`${targetHref(name)}?changed=1`, 303);
    });
    forms.post('/actions/targets/remove', async ({ body }, reply) => {
      const { target } = Removal.parse(body);
      await edits.remove(target);
      return reply.redirect(`/add?${new URLSearchParams({ removed: target }).toString()}`, 303);
    });
    forms.post('/actions/targets/undo', async (_, reply) => {
      const target = await edits.undo();
      return reply.redirect(target === null ? '/add?undone=1' : `${targetHref(target)}?undone=1`, 303);
    });
  });
}
