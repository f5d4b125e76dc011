import type { FastifyPluginAsync } from 'fastify';
import { z } from 'zod';
import { noteStages, type StatusNote, type Notes } from './state/notes.ts';
import { onlyForOperators } from './local.ts';
import { readRequest } from './request-input.ts';

export const NoteBody = z.strictObject({
  page: z.string().min(1).max(100).default('status'),
  words: z.string().trim().min(1).max(1_000),
  stage: z.enum(noteStages).optional(),
  targets: z.array(z.string().min(1).max(200)).max(100).default([]),
  thread: z.string().min(1).max(100).optional(),
  until: z.iso.datetime({ offset: true }).optional(),
});

/** What people say on status pages: posted, listed and taken down by programs on this machine only. */
export function noteRoutes(notes: Omit<Notes, 'reload'>): FastifyPluginAsync {
  return async (app) => {
    onlyForOperators(app, 'not_found');
    app.get('/-/notes', (_, reply) => reply.send({ ok: 1, notes: notes.list().map(shownNote) }));
    app.post('/-/notes', (request, reply) => {
      const { page, words, until, stage = null, targets, thread = null } = readRequest(NoteBody, request.body);
      const endsAt = until === undefined ? null : Date.parse(until);
      return reply.send({ ok: 1, note: shownNote(notes.post({ page, words, endsAt, stage, targets, thread })) });
    });
    app.post<{ Params: { id: string } }>('/-/notes/:id/remove', (request, reply) =>
      reply.send({ ok: 1, note: shownNote(notes.remove(request.params.id)) }),
    );
  };
}

/** A note as programs read it. */
function shownNote({ id, page, words, createdAt, endsAt, thread, stage, targets }: StatusNote) {
  const timeOf = (at: number) => new Date(at).toISOString();
  return {
    id,
    page,
    thread,
    stage,
    targets,
    words,
    at: timeOf(createdAt),
    until: endsAt === null ? null : timeOf(endsAt),
  };
}
