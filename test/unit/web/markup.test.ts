import { expect, test } from 'vitest';
import { cutInMiddle } from '#web/pages/markup.ts';

test('the end of a long text stands apart from what may be cut, and together they are the text', () => {
  expect(String(cutInMiddle('shop-frontend-12', 5))).toBe(
    '<bdi class="cut"><span>shop-fronte</span><span>nd-12</span></bdi>',
  );
  expect(String(cutInMiddle('<b>-😀-frontend', 9))).toBe(
    '<bdi class="cut"><span>&lt;b&gt;-😀</span><span>-frontend</span></bdi>',
  );
});

test('a short text stays whole', () => {
  expect(String(cutInMiddle('shop-1', 5))).toBe('<bdi>shop-1</bdi>');
});
