import { parseJson } from '#kernel/json.ts';

/** A command as MongoDB's Extended JSON; its first key is its name. */
export type MongoCommand = Readonly<Record<string, unknown>>;

// What changes nothing (mongodb.com/docs/manual/reference/command).
const harmless =
  'ping hello buildInfo connectionStatus serverStatus replSetGetStatus dbStats collStats listDatabases listCollections listIndexes listShards balancerStatus getParameter count distinct find aggregate'.split(
    ' ',
  );

const withCursor: ReadonlySet<string> = new Set(['find', 'aggregate', 'listCollections', 'listIndexes']);
const withLimit: ReadonlySet<string> = new Set(['find', 'aggregate', 'count', 'distinct']);

const mostCharacters = 10_000;

/** The command that is written as a map or as a text of JSON; null if the text is no map in JSON. */
export function parseCommand(written: string | MongoCommand): MongoCommand | null {
  const value = typeof written === 'string' ? parseJson(written) : written;
  return isMap(value) ? value : null;
}

/** What is wrong with a command, for its author; null if nothing is. */
export function faultOfCommand(written: string | MongoCommand): string | null {
  const command = parseCommand(written);
  if (command === null) return 'expected a map, or a text of JSON such as {"ping": 1}';
  const [name = ''] = Object.keys(command);
  if (!harmless.includes(name)) return `is no command that only reads: use one of ${harmless.join(', ')}`;
  if (JSON.stringify(command).length > mostCharacters)
    return `is longer than ${mostCharacters} characters, written as JSON`;
  const { pipeline } = command;
  const stages = (Array.isArray(pipeline) ? pipeline : []).flatMap((stage: unknown) =>
    isMap(stage) ? Object.keys(stage) : [],
  );
  const writing = stages.find((stage) => stage === '$out' || stage === '$merge');
  return writing === undefined ? null : `changes data: it has the stage ${writing}`;
}

/** Whether the reply of a command has documents to count. */
export function hasCursor(command: MongoCommand): boolean {
  const [name = ''] = Object.keys(command);
  return withCursor.has(name);
}

/** The command with what its author need not write: an end on the server after so many milliseconds, and a cursor. */
export function completeCommand(command: MongoCommand, limitMs: number): MongoCommand {
  const [name = ''] = Object.keys(command);
  return {
    ...command,
    ...(name === 'aggregate' && command['cursor'] === undefined ? { cursor: {} } : {}),
    ...(withLimit.has(name) && command['maxTimeMS'] === undefined ? { maxTimeMS: limitMs } : {}),
  };
}

function isMap(value: unknown): value is MongoCommand {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
