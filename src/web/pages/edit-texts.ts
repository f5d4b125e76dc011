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
  mayNotEdit: 'Only users who have signed in may change the configuration, and only with config.writable.',
} as const;
