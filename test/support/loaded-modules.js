import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { isMainThread } from 'node:worker_threads';

// Writes the address of each module that a program loads into a file, one on a line, and those of its threads into another one.

const file = process.env['LOADED_MODULES'];
if (file !== undefined)
  registerHooks({
    load(url, context, next) {
      appendFileSync(isMainThread ? file : `${file}-of-threads`, `${url}\n`);
      return next(url, context);
    },
  });
