import { stripVTControlCharacters } from 'node:util';
import { singleLine } from '#kernel/text.ts';
import type { Detail } from './detail.ts';
import { parsePerformanceData } from './performance-data.ts';

const mostLines = 20;

/**
 * What a plugin printed: its text, further lines, and what follows `|` in the first line, or in a later line and in all after that
 * (Monitoring Plugins Development Guidelines, "Plugin Output for Nagios"). Binary data and terminal codes are made safe.
 */
export function parseOutput(bytes: Uint8Array): Omit<Detail, 'state'> {
  const [first = '', ...others] = stripVTControlCharacters(new TextDecoder().decode(bytes)).trim().split('\n');
  const [text, data] = split(first);
  const more: string[] = [];
  const figures = [data];
  let isData = false;
  for (const line of others) {
    if (isData) {
      figures.push(line);
      continue;
    }
    const bar = line.indexOf('|');
    const [words, after] = split(line);
    const shown = singleLine(words);
    if (shown !== '' && more.length < mostLines) more.push(shown);
    if (bar === -1) continue;
    figures.push(after);
    isData = true;
  }
  const { values, omitted } = parsePerformanceData(figures.join(' '));
  return { text: singleLine(text), more, values: [...values], omitted };
}

function split(line: string): readonly [text: string, data: string] {
  const bar = line.indexOf('|');
  return bar === -1 ? [line, ''] : [line.slice(0, bar), line.slice(bar + 1)];
}
