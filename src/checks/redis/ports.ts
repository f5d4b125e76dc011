import type { ServerPorts } from '../database/ports.ts';

export const ports: ServerPorts = { plain: 6_379, scheme: 'redis', secure: { scheme: 'rediss', port: 6_379 } };
