/** Has a refinement look also at a map in which something else is wrong. */
export const always = {
  when: ({ value }: { readonly value: unknown }) => typeof value === 'object' && value !== null,
};
