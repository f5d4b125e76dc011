import { CheckSpec, type CheckTypeName } from '#checks/index.ts';
import type { Config } from '#config/config.ts';
import type { TargetEditor } from '#config/edit/edit-targets.ts';
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
      await editor.undo();
      await applied('a change on a page was taken back');
    },
    async try({ host, type }) {
      const read = CheckSpec.safeParse({ type, host }, { error: wordIssue });
      if (!read.success) throw new WatchpostError('usage', `host ${read.error.issues[0]?.message ?? 'is no target'}`);
      if (!canCheck(read.data.type))
        throw new WatchpostError('usage', `a check of the type ${read.data.type} cannot be started here`);
      return checkNow(read.data);
    },
  };
}
