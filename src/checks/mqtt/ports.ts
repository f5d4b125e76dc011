import type { ServerPorts } from '../database/ports.ts';

export const ports: ServerPorts = { plain: 1_883, scheme: 'mqtt', secure: { scheme: 'mqtts', port: 8_883 } };
