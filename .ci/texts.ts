import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

// Prints every text that people read, by kind, as `file:line  text`: to review wording in one sitting.
// `npm run texts -- log` prints one kind.

interface Text {
  readonly where: string;
  readonly text: string;
}

const root = join(import.meta.dirname, '..');

// The first that fits: by the file, or by what stands before the text.
const kinds: readonly (readonly [name: string, file: RegExp | null, before: RegExp | null])[] = [
  ['pages', /^web\/(?:pages|browser)\//, null],
  ['log', null, /\blog(?:ger)?\.(?:debug|info|warn|error|fatal)\([^;]*$/],
  ['options', null, /\.(?:describe|meta)\(\s*$|(?:error|summary): $/],
  ['commands', /^cli\//, null],
  ['metrics', /^metrics\//, null],
  ['api', /document\.ts$|openapi|^service\/http\//, null],
  ['messages', /^(?:monitor\/notify|channels)\//, null],
  [
    'errors',
    null,
    /(?:Error|Failure|failure|failed|problemAt\w*|say|addIssue)\([^;]*$|(?:message|reason|why|fault) = [^;]*$/,
  ],
  ['other', null, null],
];

const isProse = (text: string) =>
  !/<\/?\w+[ >]|^ ?f-\w/.test(text) &&
  /[A-Za-z]{2,}[,:;]? +\$?\{?[A-Za-z]{2,}/.test(text) &&
  !/^\s*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|WITH|PRAGMA|FROM|WHERE)\b/.test(text);

// A string, a template (with one level of templates inside), a comment or a regular expression.
const tokens =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\$]|\\.|\$(?!\{)|\$\{(?:[^{}`]|`(?:[^`\\]|\\.)*`|\{[^{}]*\})*\})*`|(?<=[=(,:!&|?\s])\/(?![/*])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[dgimsuvy]*/g;

const found = Map.groupBy(
  globSync('**/*.ts', { cwd: join(root, 'src') })
    .toSorted()
    .filter((file) => !file.startsWith('store/schema'))
    .flatMap((file) => textsOf(file, readFileSync(join(root, 'src', file), 'utf8'))),
  ({ kind }) => kind,
);
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !kinds.some(([kind]) => kind === name));
if (unknown.length > 0) {
  console.error(`unknown kind "${unknown.join('", "')}": use ${kinds.map(([kind]) => kind).join(', ')}`);
  process.exit(2);
}
for (const [kind] of kinds) {
  const texts = found.get(kind) ?? [];
  if (wanted.length > 0 && !wanted.includes(kind)) continue;
  console.log(`# ${kind} (${texts.length})\n`);
  for (const { where, text } of texts) console.log(`${where}  ${text}`);
  console.log('');
}

function textsOf(file: string, source: string): readonly (Text & { readonly kind: string })[] {
  return [...source.matchAll(tokens)].flatMap((match) => {
    const [token] = match;
    const quoted = /^['"`]([\s\S]*)['"`]$/.exec(token)?.[1];
    const before = source.slice(Math.max(0, match.index - 200), match.index);
    if (quoted === undefined || /^\s*;/.test(quoted) || !isProse(quoted) || /\bfrom $|^import $/.test(before))
      return [];
    const [kind = 'other'] = kinds.find(([, inFile, ahead]) => fits(inFile, file) && fits(ahead, before)) ?? [];
    const line = source.slice(0, match.index).split('\n').length;
    return [{ kind, where: `src/${file}:${line}`, text: quoted.replaceAll(/\s+/g, ' ') }];
  });
}

function fits(pattern: RegExp | null, text: string): boolean {
  return pattern === null || pattern.test(text);
}
