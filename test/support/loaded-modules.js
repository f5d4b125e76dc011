import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { isMainThread } from 'node:worker_threads';

// Writes the address of each module that the main thread of a program loads into a file, one on a line.

const file = process.env['LOADED_MODULES'];
if (isMainThread && file !== undefined)
  registerHooks({
    load(url, context, next) {
      appendFileSync(file, `${url}\n`);
      return next(url, context);
    },
  });
