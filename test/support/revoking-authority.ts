import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { serveHttp } from './http-servers.ts';

export type AuthorityAnswer = (request: IncomingMessage, response: ServerResponse) => unknown;

/** Where a certificate says that its revocation can be asked: sections of the configuration below. */
export type RevocationSource = 'ocsp' | 'lists' | 'shards' | 'both' | 'plain';

/** An authority of openssl's, which signs certificates, lists and responses, and says over HTTP what it has revoked. */
export interface RevokingAuthority extends AsyncDisposable {
  readonly origin: string;
  /** PEM. */
  readonly cert: string;
  /** What was asked: the method and the beginning of the path. */
  readonly asked: string[];
  /** How it answers. */
  answer: AuthorityAnswer;
  /** Answers as its responder does. */
  readonly respond: AuthorityAnswer;
  /** A certificate for 127.0.0.1. */
  readonly issue: (name: string, source: RevocationSource) => { readonly cert: string; readonly key: string };
  readonly revoke: (name: string) => void;
  /** Its revocation list as it is now, in DER, by options of `openssl ca`. */
  readonly list: (...options: readonly string[]) => Buffer;
}

const program = 'openssl';

const configuration = (origin: string) => `
[ca]
default_ca = here
[here]
database = index.txt
crlnumber = number.txt
serial = serial.txt
new_certs_dir = .
certificate = ca.pem
private_key = ca.key
default_md = sha256
default_days = 30
default_crl_days = 7
policy = any
unique_subject = no
crl_extensions = list
[any]
commonName = supplied
[list]
authorityKeyIdentifier = keyid
[shard]
issuingDistributionPoint = critical, @shard_point
[shard_point]
fullname = URI:${origin}/shard-2.crl
[delta]
2.5.29.27 = critical, ASN1:INTEGER:1
[ocsp]
subjectAltName = IP:127.0.0.1
authorityInfoAccess = OCSP;URI:${origin}/ocsp
[lists]
subjectAltName = IP:127.0.0.1
crlDistributionPoints = URI:${origin}/all.crl
[shards]
subjectAltName = IP:127.0.0.1
crlDistributionPoints = URI:${origin}/shard-1.crl
[both]
subjectAltName = IP:127.0.0.1
authorityInfoAccess = OCSP;URI:${origin}/ocsp
crlDistributionPoints = URI:${origin}/all.crl
[plain]
subjectAltName = IP:127.0.0.1
`;

export async function startRevokingAuthority(): Promise<RevokingAuthority> {
  const folder = mkdtempSync(join(tmpdir(), 'watchpost-authority-'));
  const openssl = (...args: readonly string[]) => void execFileSync(program, args, { cwd: folder, stdio: 'pipe' });
  const read = (name: string) => readFileSync(join(folder, name));
  const asked: string[] = [];
  const server = await serveHttp((request, response) => {
    asked.push(`${request.method} ${request.url?.slice(0, 20)}`);
    void authority.answer(request, response);
  });
  const origin = `http://127.0.0.1:${server.port}`;
  const files = { 'ca.conf': configuration(origin), 'index.txt': '', 'number.txt': '1000\n', 'serial.txt': '00A0\n' };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  openssl('req', '-x509', ...key, '-subj', '/CN=Test authority', '-days', '30', '-keyout', 'ca.key', '-out', 'ca.pem');
  const authority: RevokingAuthority = {
    origin,
    cert: read('ca.pem').toString(),
    asked,
    answer: (_request, response) => response.writeHead(503).end(),
    async respond(request, response) {
      writeFileSync(join(folder, 'request.der'), await buffer(request));
      const signer = ['-CA', 'ca.pem', '-rsigner', 'ca.pem', '-rkey', 'ca.key', '-ndays', '2'];
      const both = ['-reqin', 'request.der', '-respout', 'response.der'];
      await promisify(execFile)(program, ['ocsp', '-index', 'index.txt', ...signer, ...both], { cwd: folder });
      response.end(read('response.der'));
    },
    issue(name, source) {
      openssl('req', ...key, '-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.csr`);
      const request = ['-in', `${name}.csr`, '-out', `${name}.pem`];
      openssl('ca', '-batch', '-config', 'ca.conf', '-extensions', source, ...request);
      return { cert: read(`${name}.pem`).toString(), key: read(`${name}.key`).toString() };
    },
    revoke: (name) => openssl('ca', '-config', 'ca.conf', '-revoke', `${name}.pem`, '-crl_reason', 'keyCompromise'),
    list(...options) {
      openssl('ca', '-config', 'ca.conf', '-gencrl', '-out', 'list.pem', ...options);
      openssl('crl', '-in', 'list.pem', '-outform', 'DER', '-out', 'list.der');
      return read('list.der');
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return authority;
}
