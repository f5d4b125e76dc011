import type { OwnRegister } from './own-register.ts';

/** A request that was answered over HTTP. */
export interface RequestRecord {
  /** The path as the program knows it, `/api/v1/checks/:id`; null if it has none of that kind. */
  readonly route: string | null;
  readonly method: string;
  readonly status: number;
  /** Until the answer was sent whole. */
  readonly seconds: number;
}

const timeBounds = [0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30];

export function createRequestMetrics(register: OwnRegister): (answered: RequestRecord) => void {
  const total = register.counter(
    'watchpost_http_requests_total',
    'Requests that were answered, by the path of the program.',
    ['route', 'method', 'code'],
  );
  const time = register.histogram(
    'watchpost_http_request_seconds',
    'How long requests took until their answer was sent whole.',
    timeBounds,
    ['route'],
  );
  return ({ route, method, status, seconds }) => {
    const path = route ?? 'none';
    total.inc({ route: path, method, code: String(status) });
    time.observe({ route: path }, seconds);
  };
}
