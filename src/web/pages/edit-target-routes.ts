import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type ErrorCode, WatchpostError } from '#kernel/errors.ts';
import { readJson } from '#kernel/json.ts';
import { readForms } from '../access/caller.ts';
import { editConflict, editedTarget, type EditedTarget, mostCharacters } from './edit-target.ts';
import { type EditRoutes, onlyEditors } from './edit-routes.ts';
import { editTexts } from './edit-texts.ts';
import { targetHref } from './links.ts';
import { missing, send } from './page-reply.ts';
import type { Markup } from './markup.ts';

const mostLines = 1_000;

// In JSON, because forms change the newlines of texts.
const Quoted = z
  .string()
  .max(10 * mostCharacters)
  .transform((text, context) => {
    const read = readJson(z.string(), text);
    if (read !== null) return read;
    context.addIssue('is no text in JSON');
    return z.NEVER;
  });
const Edit = z.object({
  target: z.string().min(1).max(100),
  lines: z
    .string()
    .min(1)
    .max(mostCharacters)
    // What compares them takes time and memory for each pair of lines.
    .refine((text) => text.split('\n').length <= mostLines, { error: `more than ${mostLines} lines` }),
  seen: Quoted,
  reviewed: Quoted.optional(),
  step: z.enum(['try', 'show', 'save']),
});

const statusOf: Partial<Record<ErrorCode, number>> = {
  usage: 400,
  config_invalid: 400,
  no_nodes: 503,
  edit_conflict: 409,
};

const unified = (text: string) => text.replaceAll(/\r\n?/g, '\n').trimEnd();

/** The page that edits a target's lines: for users who have signed in, and from pages of ours only. */
export function addTargetEditing(app: FastifyInstance, { edits, access, site }: EditRoutes): void {
  const show = (reply: FastifyReply, request: FastifyRequest, name: string, content: Markup) =>
    send(
      reply,
      site.page({ user: access.userOf(request), title: editTexts.edit.title(name), place: 'overview', content }),
    );
  const usual = { objections: [], run: null, review: null, canTry: edits.canTry };

  void app.register(async (forms) => {
    readForms(forms);
    forms.addHook('onRequest', onlyEditors(access, site));
    forms.get<{ Params: { name: string } }>('/targets/:name/edit', async (request, reply) => {
      const { name } = request.params;
      const place = await edits.linesOf(name);
      if (place === null) return missing(reply, site, editTexts.edit.notThere(name));
      if (place.byHand !== null)
        return missing(reply, site, `${name}: ${editTexts.edit.by(`${place.file}:${place.line}`, place.byHand)}`);
      const lines = place.lines.trimEnd();
      return show(reply, request, name, editedTarget({ ...usual, name, place, seen: lines, lines }));
    });
    forms.post('/actions/targets/edit', async (request, reply) => {
      const read = Edit.safeParse(request.body);
      if (!read.success) throw new WatchpostError('usage', z.prettifyError(read.error));
      const { target: name, lines: written, seen, reviewed, step } = read.data;
      const lines = unified(written);
      const changed = { name, lines, seen };
      const now = await edits.linesOf(name);
      if (now === null || unified(now.lines) !== unified(seen))
        return show(reply.code(409), request, name, editConflict(changed, now?.lines.trimEnd() ?? null));
      const again = (value: Partial<EditedTarget>) =>
        show(reply, request, name, editedTarget({ ...usual, ...changed, place: now, ...value }));
      try {
        // What is saved was shown.
        if (step === 'save' && reviewed !== undefined && unified(reviewed) === lines) {
          const renamed = await edits.change(changed);
          return await reply.redirect(`${targetHref(renamed)}?changed=1`, 303);
        }
        if (step === 'try') return await again({ run: await edits.tryChanged(changed) });
        return await again({ review: await edits.review(changed) });
      } catch (error) {
        if (!(error instanceof WatchpostError)) throw error;
        const status = statusOf[error.code];
        if (status === undefined) throw error;
        reply.code(status);
        return again({ objections: error.message.split('\n') });
      }
    });
  });
}
