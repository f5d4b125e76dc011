import type { OutcomeTable } from '../check.ts';
import type { Detail } from './detail.ts';

export const table: OutcomeTable<Detail> = {
  did: 'agreed on TLS',
  columns: ['Protocol', 'Issuer', 'Valid until'],
  cells({ detail }) {
    const certificate = detail?.tls?.certificate ?? null;
    return [detail?.tls?.protocol ?? '', certificate?.issuer ?? '', certificate?.valid_to.slice(0, 10) ?? ''];
  },
};
