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
  word: 'UNSTORED',
  noun: 'Not written',
  is: 'is not written',
  was: 'was not written',
  again: 'written again',
  began: 'was not written any more',
  ended: 'was written again',
};

export const unjudged: RuleWording = {
  word: 'UNJUDGED',
  noun: 'Not judged',
  is: 'is not judged',
  was: 'was not judged',
  again: 'judged again',
  began: 'was not judged any more',
  ended: 'was judged again',
};

export const unread: RuleWording = {
  word: 'UNREAD',
  noun: 'Not read',
  is: 'is not read',
  was: 'was not read',
  again: 'read again',
  began: 'was not read any more',
  ended: 'was read again',
};

export const unchecked: RuleWording = {
  word: 'UNCHECKED',
  noun: 'Not checked',
  is: 'is not checked',
  was: 'was not checked',
  again: 'checked again',
  began: 'was not checked any more',
  ended: 'was checked again',
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
  again: 'sees a leader again',
  began: 'saw no leader any more',
  ended: 'saw a leader again',
};
