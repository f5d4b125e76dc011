const mostNamed = 3;

function namesOf(nodes: readonly string[]): string {
  const more = nodes.length - mostNamed;
  const parts = [...nodes.slice(0, mostNamed), ...(more > 0 ? [`${more} more`] : [])];
  const last = parts.pop() ?? '';
  return parts.length === 0 ? `Node ${last} is` : `Nodes ${parts.join(', ')} and ${last} are`;
}

export const overloadTexts = {
  hub: 'Watchpost is overloaded: it leaves out results of targets that are up, so what is shown of them may be old. Outages are still reported.',
  nodes: (nodes: readonly string[]) =>
    `${namesOf(nodes)} overloaded and ${nodes.length === 1 ? 'checks' : 'check'} less often than configured.`,
  more: 'What to do',
} as const;
