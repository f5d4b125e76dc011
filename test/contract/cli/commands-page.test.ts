import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { shapesOf } from '#cli/shared/commands.ts';
import { exitCodes } from '#cli/shared/exit-codes.ts';
import { createProgram } from '#cli/program.ts';
import { silentContext } from '../../support/silent-context.ts';

const page = readFileSync(new URL('../../../docs/commands.md', import.meta.url), 'utf8');
const shapes = shapesOf(createProgram(silentContext(), () => {}));

describe('docs/commands.md', () => {
  test('has every command of --help', () => {
    const commands = shapes.filter(({ path, below }) => below.length === 0 && !path.startsWith('check '));
    expect(commands.length).toBeGreaterThan(20);
    const onPage = (path: string) => {
      const [group, ...rest] = path.split(' ');
      return page.includes(`\`watchpost ${path}`) || (group === 'import' && page.includes(rest.join(' ')));
    };
    expect(commands.map(({ path }) => path).filter((path) => !onPage(path))).toEqual([]);
  });

  test('has the exit codes as the manual has them', () => {
    const rows = [...page.matchAll(/^\| (\d+) \| (.*) \|$/gm)].map(([, code, meaning]) => ({
      code: Number(code),
      meaning,
    }));
    expect(rows).toEqual(exitCodes);
  });
});
