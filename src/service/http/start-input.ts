import { checkOf, type CheckTypeName, checkTypeNames, startableTypeNames } from '#checks/index.ts';
import { describeIssue, unknownKey, wordIssue } from '#kernel/schema-words.ts';
import { isRecord, parseJson } from '#kernel/json.ts';
import { formatPath } from '#kernel/wording.ts';
import { ApiLocation } from '#protocol/location.ts';
import { ApiFailure } from './failure.ts';
import type { Parameters } from './parameters.ts';

/** What a caller asks for, before it is judged. */
export interface StartInput {
  readonly type: CheckTypeName;
  readonly host: string | null;
  /** Identifiers or names of nodes. */
  readonly nodes: readonly string[];
  /** Places of which nodes must be in one; empty for anywhere. */
  readonly locations: readonly ApiLocation[];
  /** As it was written. */
  readonly maxNodes: string | null;
  /** Options of the type, in the form that its schema reads. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** What a call of the interface asks for. Parameters that it does not name are ignored. Throws `invalid_type`. */
export function interfaceInput(type: string, parameters: Parameters, types: readonly CheckTypeName[]): StartInput {
  const isElsewhere = !types.some((name) => name === type) && startableTypeNames.some((name) => name === type);
  if (isElsewhere) throw new ApiFailure('invalid_type', `checks of the type ${type} start by POST /api/v1/checks`);
  return { ...common(parameters), type: knownType(type, types), locations: [], options: {} };
}

const singles = ['type', 'host', 'max_nodes'];
const keys = [...singles, 'node', 'location', 'options'];

/**
 * What a call of `/api/v1/checks` asks for. Throws `bad_request` for a key that it does not know or a value of another kind, and
 * `invalid_option` for an option that the type does not take over the API.
 */
export function versionOneInput(parameters: Parameters, types: readonly CheckTypeName[]): StartInput {
  for (const name of singles) {
    if (!isScalar(parameters.json(name))) throw new ApiFailure('bad_request', `${name}: expected ${kindOf(name)}`);
  }
  if (![parameters.json('node')].flat().every(isScalar)) throw new ApiFailure('bad_request', 'node: expected text');
  for (const name of [...singles, 'options']) refuseTwo(name, parameters);
  refuseUnlabelledJson(parameters);
  const type = knownType(parameters.one('type'), types);
  const unknown = parameters.names().find((name) => !keys.includes(name));
  if (unknown !== undefined)
    throw new ApiFailure('bad_request', `${formatPath([unknown])}: ${unknownKeyHint(unknown, type)}`);
  const input = common(parameters);
  if (input.maxNodes !== null && !/^\d{1,15}$/.test(input.maxNodes)) {
    throw new ApiFailure('bad_request', `max_nodes: expected ${kindOf('max_nodes')}`);
  }
  const written = parameters.json('options') ?? formOptions(parameters.one('options'));
  const locations = locationsOf(parameters);
  if (locations.length > 0 && input.nodes.length > 0) {
    throw new ApiFailure('bad_request', 'location: cannot be combined with "node"');
  }
  return { ...input, type, locations, options: optionsOf(type, written) };
}

function refuseUnlabelledJson({ isUnlabelledJson }: Parameters): void {
  if (!isUnlabelledJson) return;
  throw new ApiFailure(
    'bad_request',
    'the body is JSON, and its content type is not: send the header "Content-Type: application/json"',
  );
}

function common(parameters: Parameters): Pick<StartInput, 'host' | 'nodes' | 'maxNodes'> {
  const host = parameters.one('host');
  if (host === null) refuseUnlabelledJson(parameters);
  return { host, nodes: parameters.all('node'), maxNodes: parameters.one('max_nodes') };
}

function locationsOf(parameters: Parameters): readonly ApiLocation[] {
  const written = parameters.json('location') ?? parameters.all('location');
  return (Array.isArray(written) ? written : [written]).map((one: unknown, index) => {
    const [, key, value] = typeof one === 'string' ? (/^([^:]*):(.*)$/s.exec(one) ?? []) : [];
    const place: unknown = key === undefined ? one : { [key.trim().toLowerCase()]: value?.trim() };
    const read = ApiLocation.safeParse(place, { error: wordIssue });
    if (read.success) return read.data;
    const [issue] = read.error.issues;
    const isObject = typeof one === 'object' && one !== null;
    const message =
      issue === undefined || (!isObject && key === undefined)
        ? `location[${index}]: expected "country:DE", "as:3320", "city:Berlin" or an object of these`
        : describeIssue(issue, place, ['location', index]);
    throw new ApiFailure('bad_request', message);
  });
}

function knownType(written: string | null, types: readonly CheckTypeName[]): CheckTypeName {
  const type = types.find((name) => name === written);
  if (type !== undefined) return type;
  throw new ApiFailure('invalid_type', `${typeProblem(written)}: use one of ${types.join(', ')}`);
}

function typeProblem(written: string | null): string {
  if (written === null) return 'type is missing';
  const isForTargets = checkTypeNames.some((name) => name === written);
  return isForTargets
    ? `checks of the type ${written} are for configured targets only`
    : `there is no check type "${written}"`;
}

// A form has them as the text of a JSON object.
const formOptions = (text: string | null): unknown => (text === null ? {} : (parseJson(text) ?? text));

function unknownKeyHint(key: string, type: CheckTypeName): string {
  const options = checkOf(type).apiOptions.shape;
  const [, inside] = /^options(?:\.|\[)(\w+)\]?$/.exec(key) ?? [];
  if (inside !== undefined && Object.hasOwn(options, inside))
    return `unknown key; options are one object: {"${inside}": ...} under "options"`;
  const isOption = Object.hasOwn(options, key);
  return isOption ? `unknown key (did you mean "options.${key}"?)` : unknownKey(key, keys);
}

const kindOf = (name: string) => (name === 'max_nodes' ? 'a whole number from 0' : 'text');

const isScalar = (value: unknown) =>
  value === undefined || value === null || typeof value === 'string' || typeof value === 'number';

// Which of the two was meant is not known: query and body may contradict each other.
function refuseTwo(name: string, parameters: Parameters): void {
  const [first = '', second] = new Set(parameters.all(name));
  if (second === undefined) return;
  throw new ApiFailure('bad_request', `${name}: given twice, as "${first}" and as "${second}"`);
}

function optionsOf(type: CheckTypeName, written: unknown): StartInput['options'] {
  const { apiOptions, Spec } = checkOf(type);
  const read = apiOptions.safeParse(written, { error: wordIssue });
  if (read.success && isRecord(written)) return written;
  const [issue] = read.error?.issues ?? [];
  const known = Object.keys(apiOptions.shape).join(', ');
  const closed = issue?.code === 'unrecognized_keys' && issue.path.length === 0 ? issue.keys[0] : undefined;
  if (closed !== undefined && Object.hasOwn(Spec.shape, closed)) {
    const rest = known === '' ? 'this type takes no options' : `available: ${known}`;
    throw new ApiFailure('invalid_option', `options.${closed}: is not available over the API; ${rest}`);
  }
  const message = issue === undefined ? 'options: expected an object' : describeIssue(issue, written, ['options']);
  throw new ApiFailure('invalid_option', message);
}
