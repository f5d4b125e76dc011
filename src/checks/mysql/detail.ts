export { ServerDetail as Detail } from '../database/detail-schema.ts';
