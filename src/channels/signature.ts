import { createHmac } from 'node:crypto';

/** `t=<unix seconds>,v1=<hex>`: HMAC-SHA256 of `<unix seconds>.<body>`, so that neither can be changed or replayed later. */
export function sign(body: string, seconds: number, secret: string): string {
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`;
}
