import { generate } from 'selfsigned';

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

export interface CertificateOptions {
  /** Names it is for besides `localhost` and 127.0.0.1; `only` leaves those out. */
  readonly only?: string;
  readonly expired?: boolean;
}

/** A certificate that signs itself, for `localhost` and 127.0.0.1: trust it by naming it as `ca`. */
export async function certificate({ only, expired = false }: CertificateOptions = {}): Promise<Certificate> {
  const year = 365 * 86_400_000;
  const start = expired ? Date.now() - 2 * year : Date.now() - 60_000;
  const { private: key, cert } = await generate([{ name: 'commonName', value: only ?? 'localhost' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: new Date(start),
    notAfterDate: new Date(start + year),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', digitalSignature: true, keyCertSign: true, critical: true },
      {
        name: 'subjectAltName',
        altNames:
          only === undefined
            ? [
                { type: 2, value: 'localhost' },
                { type: 7, ip: '127.0.0.1' },
              ]
            : [{ type: 2, value: only }],
      },
    ],
  });
  return { key, cert };
}
