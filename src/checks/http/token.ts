import { isRecord, parseJson } from '#kernel/json.ts';
import { singleLine } from '#kernel/text.ts';
import type { ProbeEnvironment, ProbeContext } from '../check.ts';
import { type Failure, failure, thirdPartyFailure } from '../outcome.ts';
import { within } from '../reach.ts';

import { createRemembered, type CacheableValue } from '../remembered.ts';
import { type FetchResult, fetchDocument } from './fetch.ts';
import { encodeBasic } from './request.ts';
import type { OAuth2 } from './oauth2.ts';
import type { Spec } from './spec.ts';

/** A token that the endpoint gave, or why there is none. */
export type Token = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly failure: Failure };

/** The bearer tokens of a node's checks. */
export interface Tokens {
  /** As it is kept, or a new one. Rejects only when aborted from outside. */
  of(oauth2: OAuth2, spec: Pick<Spec, 'proxy' | 'family'>, context: ProbeContext): Promise<Token>;
  /** The target does not take it any more. */
  refused(oauth2: OAuth2, spec: Pick<Spec, 'proxy' | 'family'>, token: Token): void;
}

const mostTokens = 1_000;
const largestAnswer = 65_536;
/** For how long a token is kept whose endpoint does not tell. */
const defaultLifeMs = 300_000;
/** How long before its end a token is given up, but not more than a fifth of its life. */
const earlierMs = 60_000;
/** How soon the endpoint is asked again that gave none. */
const retryMs = 5_000;

/** Gets tokens by client credentials (RFC 6749, section 4.4): one for all checks that ask for the same, kept until shortly before its end. */
export function createTokens(environment: ProbeEnvironment): Tokens {
  const tokens = createRemembered<Token>(environment.clock, mostTokens);
  const keyOf = (oauth2: OAuth2, { proxy, family }: Pick<Spec, 'proxy' | 'family'>) =>
    JSON.stringify([oauth2, proxy, family]);

  return {
    async of(oauth2, spec, context) {
      const find = async (): Promise<CacheableValue<Token>> =>
        within(
          { family: spec.family === 'both' ? undefined : spec.family, limitMs: oauth2.timeout },
          context,
          environment,
          async (network) => {
            const wanted = { ...requestOf(oauth2), largestBytes: largestAnswer, redirects: 0, tls: { ca: oauth2.ca } };
            const fetched = await fetchDocument({ ...wanted, proxy: spec.proxy }, network, environment);
            return readToken(oauth2, fetched);
          },
        );
      return tokens.of(keyOf(oauth2, spec), context.signal, find);
    },
    refused(oauth2, spec, token) {
      tokens.forget(keyOf(oauth2, spec), token);
    },
  };
}

function requestOf({ token_url: url, client_id: id, client_secret: secret = '', scopes, audience, auth }: OAuth2) {
  const form = new URLSearchParams({ grant_type: 'client_credentials' });
  if (scopes.length > 0) form.set('scope', scopes.join(' '));
  if (audience !== undefined) form.set('audience', audience);
  if (auth === 'body') {
    form.set('client_id', id);
    form.set('client_secret', secret);
  }
  // RFC 6749, section 2.3.1: both are encoded as in a form before they are joined.
  const [username, password] = [id, secret].map(formEncoded);
  const basic = encodeBasic({ username: username ?? '', password: password ?? '' });
  const headers = {
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded',
    ...(auth === 'basic' && { authorization: `Basic ${basic}` }),
  };
  return { url, body: form.toString(), headers };
}

function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}

/** What an endpoint grants. */
interface TokenGrant {
  readonly text: string;
  readonly type: string;
  readonly lifeMs: number;
}

// RFC 6749, section 5.1. Some endpoints write the number as a text.
function readGrant(content: Buffer): TokenGrant | null {
  const granted = parseJson(content.toString('utf8'));
  if (!isRecord(granted)) return null;
  const { access_token: text, token_type: type, expires_in: life } = granted;
  if (typeof text !== 'string' || !/^[\x20-\x7e]{1,16000}$/.test(text) || typeof type !== 'string') return null;
  const seconds = life === undefined ? Number.NaN : Number(life);
  return { text, type, lifeMs: Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : defaultLifeMs };
}

// RFC 6749, section 5.2.
function readDenial(content: Buffer): string | null {
  const denied = parseJson(content.toString('utf8'));
  return isRecord(denied) && typeof denied['error'] === 'string' ? denied['error'] : null;
}

function readToken({ token_url: url }: OAuth2, fetched: FetchResult): CacheableValue<Token> {
  const whose = `the token endpoint ${new URL(url).host}`;
  const none = (reason: Failure): CacheableValue<Token> => ({ value: { ok: false, failure: reason }, keepMs: retryMs });
  if (!fetched.ok) return none(thirdPartyFailure(whose, fetched.failure));
  const { status } = fetched.head;
  if (status !== 200) {
    const denied = readDenial(fetched.content);
    const why = denied === null ? '' : ` (${singleLine(denied, 60)})`;
    return none(failure('third_party', 'status', `${whose} answered ${status}${why}`));
  }
  const granted = readGrant(fetched.content);
  if (granted === null) return none(failure('third_party', 'protocol', `${whose} gave no token that can be read`));
  if (granted.type.toLowerCase() !== 'bearer') {
    const type = singleLine(granted.type, 40);
    return none(failure('third_party', 'protocol', `${whose} gave a token of the type ${type}, not a bearer token`));
  }
  const { text, lifeMs } = granted;
  return { value: { ok: true, text }, keepMs: lifeMs - Math.min(earlierMs, lifeMs / 5) };
}
