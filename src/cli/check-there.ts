import { Option } from 'commander';
import type { CheckSpec } from '#checks/index.ts';
import type { World } from './world.ts';

export function serviceOptions(): readonly Option[] {
  return [];
}

export function askService(_: object): ((spec: CheckSpec, world: World) => Promise<number>) | null {
  return null;
}
