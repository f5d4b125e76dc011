import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { fileURLToPath } from 'node:url';

// What ships is a bundle, and Node's own support of source maps would keep the maps of all of it in memory. Here the map of a
// file is read when a stack trace that names the file is asked for.

/**
 * Has the stack traces of this thread name files and lines of the sources if it runs a bundle, and says whether it does; in a
 * checkout they do so anyway.
 */
export function nameSourcesInStackTraces(): boolean {
  if (import.meta.url.endsWith('.ts')) return false;
  const maps = new Map<string, WeakRef<SourceMap>>();
  const mapOf = (file: string): SourceMap | null => {
    const map = maps.get(file)?.deref() ?? readMap(file);
    if (map !== null) maps.set(file, new WeakRef(map));
    return map;
  };
  Error.prepareStackTrace = (error, frames) =>
    [headOf(error), ...frames.map((frame) => `    at ${inSources(frame, mapOf)}`)].join('\n');
  return true;
}

/** A line of a stack trace, with the place in the sources if the file has a map. `mapOf` gives null for other files. */
export function inSources(frame: NodeJS.CallSite, mapOf: (file: string) => SourceMap | null): string {
  const text = String(frame); // oxlint-disable-line typescript/no-base-to-string -- V8 writes frames so
  const [file, line, column] = [frame.getFileName() ?? null, frame.getLineNumber(), frame.getColumnNumber()];
  if (file === null || line === null || column === null || !/\.c?js$/.test(file)) return text;
  const origin = mapOf(file)?.findOrigin(line, column);
  if (origin === undefined || !('fileName' in origin)) return text;
  const source = origin.fileName.replace(/^(?:\.\.\/)+/, '');
  return text.replace(`${file}:${line}:${column}`, () => `${source}:${origin.lineNumber}:${origin.columnNumber}`);
}

function readMap(file: string): SourceMap | null {
  try {
    const path = file.startsWith('file:') ? fileURLToPath(file) : file;
    return new SourceMap(JSON.parse(readFileSync(`${path}.map`, 'utf8')) as SourceMapPayload); // oxlint-disable-line typescript/no-unsafe-type-assertion -- the build wrote it
  } catch {
    // An error is being reported, and another one must not take its place.
    return null;
  }
}

// As V8 writes it.
function headOf(error: Error): string {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    // What poses as an error may throw here.
    return 'Error';
  }
}
