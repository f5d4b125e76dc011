import type { ServerPorts } from '../database/ports.ts';

export const ports: ServerPorts = { plain: 5_672, scheme: 'amqp', secure: { scheme: 'amqps', port: 5_671 } };
