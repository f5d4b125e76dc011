/** What a command ends with, whatever the command: the one table, for the documentation and the manual. */
export const exitCodes = [
  { code: 0, meaning: 'done; up, healthy' },
  { code: 1, meaning: 'it failed, or the target is down or the daemon unhealthy' },
  { code: 2, meaning: 'the command line or the configuration is wrong: the message says where' },
  { code: 3, meaning: 'the state is unknown (check, run --once)' },
  { code: 77, meaning: 'the node was revoked; restarting it does not help' },
  { code: 130, meaning: 'interrupted' },
] as const;
