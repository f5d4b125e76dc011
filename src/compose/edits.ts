import { CheckSpec, type CheckTypeName } from '#checks/index.ts';
import type { Config } from '#config/config.ts';
import type { TargetEditor, WrittenTarget } from '#config/edit/edit-targets.ts';
import { proposedName, proposedType } from '#config/edit/proposed-target.ts';
import type { ReloadResult } from '#config/apply/reload.ts';
import { WatchpostError } from '#kernel/errors.ts';
import { wordIssue } from '#kernel/schema-words.ts';
import type { TargetEdits } from '#web/pages/edit-routes.ts';

// The part of compose.ts that is about targets which are changed on pages.

export interface EditsOptions {
  readonly editor: TargetEditor;
  readonly inForce: () => Config;
  readonly reload: (cause: string) => Promise<ReloadResult>;
  readonly checkNow: (spec: CheckSpec) => Promise<string>;
  readonly canCheck: (type: CheckTypeName) => boolean;
  /** Whether nodes can be asked besides the schedule. */
  readonly canTry: boolean;
}

/** Changes the files, and has the change take effect. */
export function createEdits({ editor, inForce, reload, checkNow, canCheck, canTry }: EditsOptions): TargetEdits {
  let read: { readonly of: Config; readonly places: Promise<ReadonlyMap<string, WrittenTarget>> } | null = null;

  // Pages ask with each view: the files are read again once others are in force.
  async function placeOf(target: string) {
    const of = inForce();
    if (read?.of !== of) read = { of, places: editor.places() };
    try {
      return (await read.places).get(target) ?? null;
    } catch (error) {
      read = null;
      throw error;
    }
  }

  function check(spec: CheckSpec): Promise<string> {
    if (canCheck(spec.type)) return checkNow(spec);
    throw new WatchpostError('usage', `a check of the type ${spec.type} cannot be started here`);
  }

  async function applied(cause: string): Promise<void> {
    const result = await reload(cause);
    if (!result.ok) throw new WatchpostError('config_invalid', result.problems.join('\n'));
  }
  return {
    canTry,
    propose({ host, type, name, every }) {
      const taken = new Set(inForce().targets.map((target) => target.name));
      const chosen = type === '' ? proposedType(host) : type;
      return { host, type: chosen, name: name === '' ? proposedName(host, taken) : name, every };
    },
    async add({ host, type, name, every }) {
      const keys = { check: type, host, ...(every === '' ? {} : { every }) };
      await editor.add({ name, keys });
      await applied('a target was added on a page');
      return name;
    },
    async remove(target) {
      await editor.remove(target);
      await applied('a target was removed on a page');
    },
    async undo() {
      const target = await editor.undo();
      await applied('a change on a page was taken back');
      return inForce().targets.some(({ name }) => name === target) ? target : null;
    },
    get canUndo() {
      return editor.last !== null;
    },
    placeOf,
    linesOf: async (target) => (await editor.places()).get(target) ?? null,
    async review(changed) {
      const { name, file } = await editor.plan(changed);
      return { name, file };
    },
    async tryChanged(changed) {
      const { name, config } = await editor.plan(changed);
      const spec = config.targets.find((target) => target.name === name)?.spec;
      if (spec === undefined) throw new WatchpostError('usage', `${name} is no target of this configuration`);
      return check(spec);
    },
    async change(changed) {
      const name = await editor.change(changed);
      await applied('a target was changed on a page');
      return name;
    },
    async try({ host, type }) {
      const read = CheckSpec.safeParse({ type, host }, { error: wordIssue });
      if (!read.success) throw new WatchpostError('usage', `host ${read.error.issues[0]?.message ?? 'is no target'}`);
      return check(read.data);
    },
  };
}
