// The words of pages with the documentation.

export const docsTexts = {
  title: 'Documentation',
  lead: 'Of the version that runs here.',
  contents: 'On this page',
  table: (number: number) => `Table ${number}`,
  code: (number: number) => `Code ${number}`,
  hubs: 'hubs',
  about: (word: string) => `About ${word}`,
} as const;
