import { createPrivateKey, X509Certificate } from 'node:crypto';
import { messageOf } from '#kernel/errors.ts';

/** Why a text cannot be used as PEM certificates to trust, or null. */
export function faultOfAuthorities(text: string): string | null {
  const certificates = text.match(/-----BEGIN CERTIFICATE-----[^]*?(?:-----END CERTIFICATE-----|$)/g) ?? [];
  if (certificates.length === 0) return 'holds no PEM certificate';
  return faultOf('holds a certificate that cannot be read', () => certificates.map((one) => new X509Certificate(one)));
}

/** Why a text cannot be used as a private key, or null. */
export function faultOfPrivateKey(text: string): string | null {
  if (!/-----BEGIN (?:\w+ )?PRIVATE KEY-----/.test(text)) return 'holds no PEM private key';
  return faultOf('holds a private key that cannot be read', () => createPrivateKey(text));
}

function faultOf(fault: string, use: () => unknown): string | null {
  try {
    use();
    return null;
  } catch (error) {
    return `${fault}: ${messageOf(error)}`;
  }
}
