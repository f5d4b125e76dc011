import { z } from 'zod';

export const Pem = z
  .string()
  .max(500_000)
  .regex(/-----BEGIN [A-Z0-9 ]+-----/, { error: 'expected PEM text' });
