/** What a plugin may say of its target, in the order of their exit codes. */
export const states = ['ok', 'warning', 'critical', 'unknown'] as const;
