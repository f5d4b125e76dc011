import { createRequire } from 'node:module';
import { isRecord } from '#kernel/json.ts';

/** What a parser tells, during `read` and `finish`. */
export interface ParserEvents {
  /** The head of an answer, interim ones included. What it returns says what follows it: a body, or none by the kind of request. */
  onHead(head: ParsedHead): 'body' | 'no body';
  onBody(bytes: Buffer): void;
  /** The end of an answer; true if no further one is waited for: then the rest is left unread. */
  onComplete(): boolean;
}

export interface ParsedHead {
  readonly status: number;
  readonly reason: string;
  /** The second part of the version: 0 for HTTP/1.0. */
  readonly minor: number;
  /** Names and values in turn, as they were sent. */
  readonly raw: readonly string[];
}

/** An answer that is not valid HTTP, by llhttp's own code such as `HPE_INVALID_CONSTANT`. */
class ParseError extends Error {
  override readonly name = 'ParseError';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Reads the answers of one connection. */
export interface ResponseParser extends Disposable {
  /** Throws a `ParseError`. */
  read(chunk: Buffer): void;
  /** The other side has ended the connection in good order. Throws a `ParseError` if the answer is not at its end. */
  finish(): void;
}

export type MakeParser = (events: ParserEvents, maxHeadBytes: number) => ResponseParser;

/**
 * Prepares llhttp, the parser of Node itself (https://github.com/nodejs/llhttp), as undici carries it, once for the process: as
 * strict as Node's own client, without what that does besides, except that header fields may be folded (RFC 9112, section 5.2), and that
 * an interim answer does not end the connection, whatever it says.
 */
export async function loadResponseParser(): Promise<MakeParser> {
  return (maker ??= prepare());
}

let maker: Promise<MakeParser> | undefined;

const codes = { ok: 0, paused: 21, pausedUpgrade: 22 } as const;
const responses = 2;
// What a callback returns to have the parser stop: with an error, or for good; after a head also to skip its body.
const fail = -1;
const skipBody = 1;
const quotedBytes = 80;

const calls = [
  'malloc',
  'llhttp_alloc',
  'llhttp_free',
  'llhttp_execute',
  'llhttp_finish',
  'llhttp_get_http_minor',
  'llhttp_set_lenient_headers',
  'llhttp_set_lenient_keep_alive',
  'llhttp_get_error_reason',
  'llhttp_errno_name',
] as const;
type Library = Readonly<Record<(typeof calls)[number], (...args: readonly number[]) => number>> & {
  readonly memory: { readonly buffer: ArrayBuffer };
};

function isLibrary(exports: unknown): exports is Library {
  return isRecord(exports) && isRecord(exports['memory']) && calls.every((name) => typeof exports[name] === 'function');
}

// What the callbacks of one parser do; positions are addresses.
interface Callbacks {
  onText(kind: 'reason' | 'name' | 'value', at: number, length: number): number;
  onHeadersComplete(status: number): number;
  onBody(at: number, length: number): number;
  onMessageComplete(): number;
}

// The language's own library has no types of it.
interface WasmCompiler {
  compile(bytes: Uint8Array): Promise<object>;
  instantiate(module: object, imports: object): Promise<{ readonly exports: unknown }>;
}

async function prepare(): Promise<MakeParser> {
  // Sound because every Node has it, in this form (https://webassembly.github.io/spec/js-api/).
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const wasm = Reflect.get(globalThis, 'WebAssembly') as WasmCompiler;
  const source: unknown = createRequire(import.meta.url)('undici/lib/llhttp/llhttp-wasm.js');
  if (!(source instanceof Uint8Array)) throw new TypeError('undici carries llhttp in another form');
  const module = await wasm.compile(source);
  const parsers = new Map<number, Callbacks>();
  const text = (kind: 'reason' | 'name' | 'value') => (pointer: number, at: number, length: number) =>
    parsers.get(pointer)?.onText(kind, at, length) ?? fail;
  const instance = await wasm.instantiate(module, {
    env: {
      wasm_on_message_begin: () => 0,
      wasm_on_url: () => 0,
      wasm_on_status: text('reason'),
      wasm_on_header_field: text('name'),
      wasm_on_header_value: text('value'),
      wasm_on_headers_complete: (pointer: number, status: number) =>
        parsers.get(pointer)?.onHeadersComplete(status) ?? fail,
      wasm_on_body: (pointer: number, at: number, length: number) => parsers.get(pointer)?.onBody(at, length) ?? fail,
      wasm_on_message_complete: (pointer: number) => parsers.get(pointer)?.onMessageComplete() ?? fail,
    },
  });
  const library = instance.exports;
  if (!isLibrary(library)) throw new TypeError('llhttp exports something else');
  // One for all: a parser has done with it when it returns.
  const room = library.malloc(roomBytes);
  return (events, maxHeadBytes) => createParser(library, room, parsers, events, maxHeadBytes);
}

const nothing = Buffer.alloc(0);

// Sockets hand out no more at a time.
const roomBytes = 65_536;

// Tabs and what is no control in Latin-1 or ASCII (RFC 9110, section 5.5).
const noHeaderText = /[^\t\x20-\x7e\x80-\xff]/;

// Where a line was folded: no value has this character.
const fold = '\n';

function unfold(text: string): string {
  return text.includes(fold) ? text.replaceAll(/[\t ]*\n[\t ]*/g, ' ').trim() : text;
}

function createParser(
  library: Library,
  room: number,
  parsers: Map<number, Callbacks>,
  events: ParserEvents,
  maxHeadBytes: number,
): ResponseParser {
  const pointer = library.llhttp_alloc(responses);
  library.llhttp_set_lenient_headers(pointer, 1);
  library.llhttp_set_lenient_keep_alive(pointer, 1);
  let chunk: Buffer = nothing;
  let headBytes = 0;
  let last: 'reason' | 'name' | 'value' = 'value';
  let reason = '';
  let raw: string[] = [];
  let done = false;
  let hasHead = false;
  // Positions among all that was read: where the chunk begins, and where the last part of a header ended.
  let chunkStart = 0;
  let partEnd = 0;
  let hasControl = false;

  parsers.set(pointer, {
    onText(kind, at, length) {
      headBytes += length;
      if (headBytes > maxHeadBytes) return fail;
      const part = chunk.toString('latin1', at - room, at - room + length);
      // The parser does not look at values once they may be folded.
      hasControl = kind === 'value' && noHeaderText.test(part);
      if (hasControl) return fail;
      const start = chunkStart + at - room;
      const isFolded = kind === 'value' && last === 'value' && start !== partEnd;
      partEnd = start + length;
      // A text may come in pieces, and an empty value not at all.
      if (kind === 'reason') reason += part;
      else if (kind === last) raw.push(`${raw.pop() ?? ''}${isFolded ? fold : ''}${part}`);
      else {
        if (kind === 'name' && raw.length % 2 === 1) raw.push('');
        raw.push(part);
      }
      last = kind === 'reason' ? last : kind;
      return 0;
    },
    onHeadersComplete(status) {
      hasHead = true;
      if (raw.length % 2 === 1) raw.push('');
      const unfolded = raw.map(unfold);
      const follows = events.onHead({ status, reason, minor: library.llhttp_get_http_minor(pointer), raw: unfolded });
      headBytes = 0;
      last = 'value';
      reason = '';
      raw = [];
      return follows === 'body' ? 0 : skipBody;
    },
    onBody(at, length) {
      events.onBody(chunk.subarray(at - room, at - room + length));
      return 0;
    },
    onMessageComplete() {
      done = events.onComplete();
      return done ? codes.paused : 0;
    },
  });

  function judge(code: number): void {
    if (code === codes.ok || done) return;
    if (headBytes > maxHeadBytes) throw new ParseError('HPE_HEADER_OVERFLOW', 'Header overflow');
    if (hasControl) throw new ParseError('HPE_INVALID_HEADER_TOKEN', 'Invalid header value char');
    const reason = textAt(library.llhttp_get_error_reason(pointer));
    throw new ParseError(textAt(library.llhttp_errno_name(code)), hasHead ? reason : `${reason}${beginning()}`);
  }

  // What is no HTTP at all says best what it is: the banner of another protocol.
  function beginning(): string {
    const [line = ''] = chunk.toString('latin1', 0, quotedBytes).split(/[\r\n]/);
    return /^[ -~]+$/.test(line) && !line.startsWith('HTTP/') ? `; it begins with "${line}"` : '';
  }

  function textAt(address: number): string {
    const bytes = new Uint8Array(library.memory.buffer, address);
    return address === 0 ? '' : Buffer.from(bytes.subarray(0, bytes.indexOf(0))).toString('latin1');
  }

  return {
    read(bytes) {
      for (let start = 0; start < bytes.length; start += roomBytes) {
        if (done) return;
        chunk = bytes.subarray(start, start + roomBytes);
        new Uint8Array(library.memory.buffer, room, roomBytes).set(chunk);
        judge(library.llhttp_execute(pointer, room, chunk.length));
        chunkStart += chunk.length;
      }
    },
    finish: () => judge(library.llhttp_finish(pointer)),
    [Symbol.dispose]() {
      if (!parsers.delete(pointer)) return;
      library.llhttp_free(pointer);
    },
  };
}
