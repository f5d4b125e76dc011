// The words of pages that change the configuration.

export const editTexts = {
  title: 'Add a target',
  lead: 'Try it from all nodes if you like. Adding it writes one line into the configuration; comments and order there stay.',
  host: 'What to check',
  hostHint: 'A URL, or a name or an address, with a port or without.',
  example: 'https://shop.example.com',
  type: 'How',
  automatic: 'by scheme and port',
  name: 'Name',
  nameHint: 'a–z, 0–9, “-” and “_”. The history of a target stays with its name.',
  every: 'How often',
  everyHint: 'Such as 30s or 5m; empty: as other targets.',
  proposed: 'made of the host',
  check: 'Check it from all nodes',
  add: 'Add',
  results: 'Results of all nodes',
  removed: (name: string) => `${name} is removed from the configuration. Its history stays.`,
  undone: 'The last change is taken back.',
  undo: 'Undo',
  remove: 'Remove from the configuration',
  changed: 'The configuration is changed.',
  edit: {
    link: 'Edit',
    title: (name: string) => `Edit ${name}`,
    lead: (place: string) =>
      `Its lines in the configuration, ${place}, with the comments in them. Secrets that are written there are shown.`,
    lines: 'Lines',
    check: 'Check it from all nodes',
    show: 'Show the difference',
    save: 'Save',
    difference: 'Difference',
    same: 'These are the lines that are there.',
    added: 'added',
    removed: 'removed',
    confirm: (file: string) => `“Save” writes this to ${file} and reloads.`,
    renamed: (old: string, name: string) =>
      `${old} becomes ${name}: a new target without a past. The history of ${old} stays under that name, for when it returns.`,
    line: (line: number) => `Line ${line}, `,
    conflict: (name: string) => `${name} was changed in the file meanwhile. Nothing is written. Its lines are now:`,
    gone: (name: string) => `${name} is not in the files any more. Nothing is written.`,
    yours: 'Your lines',
    notThere: (name: string) => `${name} is written in no file of the configuration`,
    fresh: 'Start from these lines',
    by: (place: string, why: string) => `Written at ${place}. It ${why}: change it there.`,
    elsewhere: 'From a list that targets_from names: change it there.',
    usual: (place: string) => `Written at ${place}.`,
  },
  mayNotEdit: 'Only users who have signed in may change the configuration, and only with config.writable.',
} as const;

const targets = (count: number) => `${count} ${count === 1 ? 'target' : 'targets'}`;

// The words about reloads of the configuration.
export const reloadTexts = {
  title: 'Changes of the configuration',
  lead: 'What each reload changed since the start of the program, the newest first. The page of a target marks its changes on the time axis (■).',
  none: 'The configuration was not reloaded since the start of the program.',
  line: 'Configuration reloaded',
  invalidLine: 'The configuration in the files is invalid; the last valid one runs.',
  summary({ added, changed, removed }: { added: number; changed: number; removed: number }): string {
    const parts = [
      ...(added > 0 ? [`${targets(added)} added`] : []),
      ...(changed > 0 ? [`${targets(changed)} changed`] : []),
      ...(removed > 0 ? [`${targets(removed)} removed`] : []),
    ];
    return parts.length === 0 ? 'no target changed' : parts.join(', ');
  },
  columns: ['Time', 'Cause', 'Added', 'Changed', 'Removed'],
  restart: (keys: readonly string[]) => `After a restart: ${keys.join(', ')}`,
  invalid: 'Invalid: nothing changed',
  more: (count: number) => `and ${count} more`,
} as const;
