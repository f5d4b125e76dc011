import { afterAll, afterEach, beforeEach } from 'vitest';
import { killChildren } from './children.ts';

const methods = ['log', 'info', 'warn', 'error', 'debug'] as const;
const original = Object.fromEntries(methods.map((method) => [method, console[method]]));
let printed: string[] = [];

beforeEach(() => {
  printed = [];
  for (const method of methods) {
    console[method] = (...words: unknown[]) => {
      printed.push(`console.${method}: ${words.map(String).join(' ')}`);
    };
  }
});

afterAll(killChildren);

afterEach(() => {
  Object.assign(console, original);
  if (printed.length > 0) throw new Error(`The test printed to the console:\n${printed.join('\n')}`);
});
