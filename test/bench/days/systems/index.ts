import { icinga } from './icinga.ts';
import { monit } from './monit.ts';
import { nagios } from './nagios.ts';
import { prometheus } from './prometheus.ts';
import type { System } from './system.ts';
import { watchpost, watchpostOfThree } from './watchpost.ts';

export const systems: readonly System[] = [watchpost, watchpostOfThree, prometheus, icinga, nagios, monit];
