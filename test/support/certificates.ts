import { generate } from 'selfsigned';
import { dayMs } from '#kernel/units.ts';

export interface Issued {
  readonly cert: string;
  readonly key: string;
}

export interface IssueOptions {
  readonly names?: readonly string[];
  readonly ips?: readonly string[];
  /** Days from now that it is valid from and to. */
  readonly days?: readonly [from: number, to: number];
  readonly ca?: Issued;
  /** RSA of 1024 bits. */
  readonly weakKey?: boolean;
}

/** A certificate for these names and addresses: self-signed, or by the authority. */
export async function issue({
  names = [],
  ips = [],
  days = [-1, 30],
  ca,
  weakKey = false,
}: IssueOptions = {}): Promise<Issued> {
  const altNames = [
    ...names.map((value) => ({ type: 2 as const, value })),
    ...ips.map((ip) => ({ type: 7 as const, ip })),
  ];
  return make({
    name: 'Test server',
    days,
    ca,
    weakKey,
    extensions: [
      { name: 'basicConstraints' as const, cA: false },
      ...(altNames.length > 0 ? [{ name: 'subjectAltName' as const, altNames }] : []),
    ],
  });
}

/** An authority that `issue` can sign with. */
export async function issueAuthority(): Promise<Issued> {
  return make({
    name: 'Test authority',
    days: [-1, 30],
    extensions: [
      { name: 'basicConstraints' as const, cA: true, critical: true },
      { name: 'keyUsage' as const, keyCertSign: true, critical: true },
    ],
  });
}

/** An authority that another one vouches for, valid in these days from now. */
export async function issueIntermediate(ca: Issued, days: readonly [number, number] = [-1, 30]): Promise<Issued> {
  return make({
    name: 'Test intermediate',
    days,
    ca,
    extensions: [
      { name: 'basicConstraints' as const, cA: true, critical: true },
      { name: 'keyUsage' as const, keyCertSign: true, critical: true },
    ],
  });
}

interface Making {
  readonly name: string;
  readonly days: readonly [number, number];
  readonly ca?: Issued | undefined;
  readonly weakKey?: boolean;
  readonly extensions: NonNullable<NonNullable<Parameters<typeof generate>[1]>['extensions']>;
}

async function make({ name, days, ca, weakKey = false, extensions }: Making): Promise<Issued> {
  const made = await generate([{ name: 'commonName', value: name }], {
    ...(weakKey ? { keyType: 'rsa' as const, keySize: 1_024 } : { keyType: 'ec' as const }),
    algorithm: 'sha256',
    notBeforeDate: new Date(Date.now() + days[0] * dayMs),
    notAfterDate: new Date(Date.now() + days[1] * dayMs),
    extensions,
    ...(ca !== undefined && { ca: { cert: ca.cert, key: ca.key } }),
  });
  return { cert: made.cert, key: made.private };
}
