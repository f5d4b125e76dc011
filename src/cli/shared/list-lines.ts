import type { Config } from '#config/config.ts';

/** What came of each address that targets come from. */
export function listLines({ lists }: Pick<Config, 'lists'>): readonly string[] {
  return lists.map(({ name, shown, targets, trouble }) => {
    const many = `${targets} ${targets === 1 ? 'target' : 'targets'}`;
    if (trouble === null) return `targets_from.${name}: ${many} from ${shown}`;
    const kept = targets === 0 ? 'nothing is known of it' : `${many} as it was kept`;
    return `warning: targets_from.${name}: ${shown}: ${trouble}; ${kept}`;
  });
}
