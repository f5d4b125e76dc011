import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { isMainThread } from 'node:worker_threads';

// Writes the address of each module that a program loads into a file, one on a line, those of its threads into another one, and those
// of its nodes into a third.

const file = process.env['LOADED_MODULES'];
const isOfNode = (url) => /\/node[/-]thread\.[jt]s$/.test(url);
let isNode = false;
if (file !== undefined)
  registerHooks({
    load(url, context, next) {
      isNode ||= !isMainThread && isOfNode(url);
      appendFileSync(isMainThread ? file : `${file}-of-threads`, `${url}\n`);
      if (isNode) appendFileSync(`${file}-of-nodes`, `${url}\n`);
      return next(url, context);
    },
  });
