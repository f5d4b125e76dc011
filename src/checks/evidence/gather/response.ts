import type { Random } from '#kernel/random.ts';
import { singleLine } from '#kernel/text.ts';
import { follow } from '../../http/follow.ts';
import type { Head } from '../../http/head.ts';
import type { HopRequest } from '../../http/redirect.ts';
import { firstRequest } from '../../http/request.ts';
import type { Spec as HttpSpec } from '../../http/spec.ts';
import { Stopwatch } from '../../http/stopwatch.ts';
import { attributeToProxy, placeOf } from '../../http/tunnel.ts';
import { evidenceFamily } from '../../families.ts';
import { within } from '../../reach.ts';
import type { ResponseEvidence } from '../detail.ts';
import { retainedBytes } from '../limits.ts';
import { printable, type Redaction } from '../redaction.ts';
import { type GatherContext, PartUnavailableError } from './context.ts';
import { gatherGrpcResponse } from './grpc-response.ts';

const longestMs = 7_000;
const mostBody = 262_144;
const mostHeaders = 60;
// A secret that begins within the first KiB is recognised to its end.
const excerptBytes = retainedBytes + 16_384;

/** The response to the target's own request: its head, and the beginning of its body. */
export async function gatherResponse(given: GatherContext): Promise<ResponseEvidence | null> {
  const { plan, context, tools, redaction } = given;
  if (plan.call !== undefined) return gatherGrpcResponse(plan.call, given);
  if (plan.request === undefined) return null;
  const { spec, upgrade } = plan.request;
  const { environment } = tools;
  const first = firstRequest(spec, await tokenOf(spec, given));
  const request = upgrade === true ? upgrading(first, environment.random) : first;
  const { proxy } = spec;
  const name = proxy === undefined ? request.target.name : placeOf(proxy).name;
  const excerpt = createExcerpt();
  return within(
    { family: evidenceFamily(spec.family), limitMs: Math.min(plan.timeoutMs, longestMs) },
    context,
    environment,
    async (network) => {
      const pinned = attributeToProxy(proxy, await network.pin(name));
      const { head, body, failure, hops, url } = await follow(request, pinned, {
        spec: { ...spec, max_body: Math.min(Math.max(spec.max_body, excerptBytes), mostBody) },
        environment,
        network,
        watch: new Stopwatch(environment.clock),
        keep: false,
        onBytes: (bytes) => excerpt.take(bytes),
      });
      const hasBody = head !== null && (body !== null || excerpt.bytes > 0);
      const away = hops.length === 0 ? [] : [...hops.map((hop) => hop.url), url];
      return {
        status: head === null ? null : singleLine(redaction.text(`${head.status} ${head.reason}`), 300),
        headers: head === null ? [] : headersOf(head, redaction),
        body: hasBody ? excerpt.text(redaction) : null,
        bodyBytes: hasBody ? excerpt.bytes : null,
        redirects: away.map((one) => redaction.text(one).slice(0, 2_100)),
        failure: failure === null ? null : singleLine(redaction.text(failure.message)),
        isWhole: body?.complete === true,
      };
    },
  );
}

async function tokenOf(spec: HttpSpec, { context, tools, redaction }: GatherContext): Promise<string | null> {
  if (spec.oauth2 === undefined) return null;
  const token = await tools.tokens.of(spec.oauth2, spec, context);
  if (!token.ok) throw new PartUnavailableError(redaction.text(token.failure.message));
  redaction.add(token.text);
  return token.text;
}

// RFC 6455, section 4.1.
function upgrading(request: HopRequest, random: Random): HopRequest {
  const headers = {
    ...request.headers,
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': Buffer.from(random.bytes(16)).toString('base64'),
  };
  return { ...request, headers };
}

function headersOf({ headers, valuesOf }: Head, redaction: Redaction): [string, string][] {
  const all = Object.keys(headers).flatMap((name) => {
    const values = valuesOf(name);
    return (values.length > 0 ? values : [String(headers[name] ?? '')]).map((value): [string, string] => [
      singleLine(redaction.text(name), 100),
      singleLine(redaction.header(name, value), 300),
    ]);
  });
  return all.slice(0, mostHeaders);
}

/** The first bytes of what comes, and how many there were. */
export interface Excerpt {
  readonly bytes: number;
  take(bytes: Buffer): void;
  text(redaction: Redaction): string;
}

export function createExcerpt(): Excerpt {
  const pieces: Buffer[] = [];
  let bytes = 0;
  return {
    get bytes() {
      return bytes;
    },
    take(piece) {
      const room = excerptBytes - bytes;
      bytes += piece.length;
      // Copied: the bytes may be those of a buffer that is used again.
      if (room > 0) pieces.push(Buffer.from(piece.subarray(0, room)));
    },
    text: (redaction) => cutExcerpt(redaction.text(printable(Buffer.concat(pieces)), true)),
  };
}

// Redacted first: what was cut before that could begin with a part of a secret.
const cutExcerpt = (text: string) => text.slice(0, retainedBytes).replace(/\\(?:x[0-9a-f]?)?$/, '');
