import type { RuleWording } from '../judge/rules/kind.ts';

// What messages call the states of our own incidents.

export const suspicion: RuleWording = {
  word: 'SUSPECT',
  noun: 'Suspected',
  is: 'is suspected',
  was: 'was suspected',
  again: 'trusted again',
  began: 'was suspected',
  ended: 'was trusted again',
};

export const absence: RuleWording = {
  word: 'OFFLINE',
  noun: 'Offline',
  is: 'is offline',
  was: 'was offline',
  again: 'back',
  began: 'went offline',
  ended: 'came back',
};

export const unreachable: RuleWording = {
  word: 'OFFLINE',
  noun: 'Offline',
  is: 'cannot be reached',
  was: 'could not be reached',
  again: 'reachable again',
  began: 'could not be reached any more',
  ended: 'could be reached again',
};

export const loss: RuleWording = {
  word: 'OFFLINE',
  noun: 'Offline',
  is: 'is lost',
  was: 'was lost',
  again: 'back',
  began: 'was lost',
  ended: 'came back',
};

export const unwritable: RuleWording = {
  word: 'NOT WRITABLE',
  noun: 'Not writable',
  is: 'cannot be written',
  was: 'could not be written',
  again: 'writable again',
  began: 'could not be written any more',
  ended: 'could be written again',
};

export const unjudged: RuleWording = {
  word: 'NOT JUDGED',
  noun: 'Not judged',
  is: 'cannot judge part of what nodes saw',
  was: 'could not judge part of what nodes saw',
  again: 'judging again',
  began: 'could not judge what nodes saw',
  ended: 'judged again',
};

/** Too many results for the hub, or too many checks for a node. */
export const overloaded: RuleWording = {
  word: 'OVERLOADED',
  noun: 'Overloaded',
  is: 'is overloaded',
  was: 'was overloaded',
  again: 'keeping up again',
  began: 'was overloaded',
  ended: 'kept up again',
};

export const throttled: RuleWording = {
  word: 'THROTTLED',
  noun: 'Throttled',
  is: 'is throttled',
  was: 'was throttled',
  again: 'read in full again',
  began: 'was throttled',
  ended: 'was read in full again',
};

export const clockSet: RuleWording = {
  word: 'CLOCK',
  noun: 'Clock',
  is: 'was set',
  was: 'was set',
  again: 'steady',
  began: 'was set',
  ended: 'went on',
};

export const degraded: RuleWording = {
  word: 'DEGRADED',
  noun: 'Degraded',
  is: 'is degraded',
  was: 'was degraded',
  again: 'healthy again',
  began: 'was degraded',
  ended: 'was healthy again',
};

export const leaderless: RuleWording = {
  word: 'NO LEADER',
  noun: 'No leader',
  is: 'sees no leader',
  was: 'saw no leader',
  again: 'in contact with a leader again',
  began: 'saw no leader any more',
  ended: 'saw a leader again',
};
