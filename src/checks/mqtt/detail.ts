export { ServerDetail as Detail } from '../database/detail.ts';
