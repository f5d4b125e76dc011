/** Who took a time: the kernel's stamp on the packet, or our own clock when we came to read it. */
export type TimedBy = 'kernel' | 'clock';

export interface RoundTrip {
  readonly ms: number;
  readonly timedBy: TimedBy;
}

/** A moment on both clocks: the wall clock, which the kernel's stamps are on, and the monotonic one. */
export interface Instant {
  readonly wallMs: number;
  readonly elapsedMs: number;
  /** They were read within so many milliseconds: more if the thread was preempted between the two. */
  readonly withinMs: number;
}

/** Wall and monotonic clock agree to this much over the few seconds of an echo unless the wall clock is set. */
const stepMs = 1;

interface DepartureTime {
  /** Right before it was handed to the kernel. */
  readonly sent: Instant;
  /** When the kernel handed it to the network device, or null. */
  readonly departedMs: number | null;
}

/**
 * The time from the departure, else from sending, to the kernel's receive stamp. If there is no stamp, or where the wall
 * clock was set between sending and now, it is the monotonic time until now, which includes how late we came to read.
 */
export function roundTrip({ sent, departedMs }: DepartureTime, stampMs: number | null, now: Instant): RoundTrip {
  const elapsedMs = now.elapsedMs - sent.elapsedMs;
  const apartMs = stepMs + sent.withinMs + now.withinMs;
  const stepped = Math.abs(now.wallMs - sent.wallMs - elapsedMs) > apartMs;
  if (stepped || stampMs === null) return { ms: elapsedMs, timedBy: 'clock' };
  const ms = stampMs - sent.wallMs;
  if (ms < 0 || ms > elapsedMs + apartMs) return { ms: elapsedMs, timedBy: 'clock' };
  const left = departedMs !== null && departedMs >= sent.wallMs && departedMs <= stampMs;
  return { ms: left ? stampMs - departedMs : ms, timedBy: 'kernel' };
}
