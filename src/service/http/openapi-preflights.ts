import { failuresWith, headers } from './openapi-parts.ts';

interface PathOperation {
  readonly operationId?: string;
  readonly parameters?: readonly { readonly in: string }[];
}

type Paths = Readonly<Record<string, Readonly<Record<string, PathOperation>>>>;

/** The same paths with what browsers ask before scripts of a named origin may call them (Fetch, section 3.3.4). */
export function withPreflights(paths: Paths): Paths {
  const all = Object.entries(paths).map(([path, methods]) => {
    const { operationId = '', parameters = [] } = methods['get'] ?? methods['post'] ?? {};
    const inPath = parameters.filter((one) => one.in === 'path');
    const options = {
      operationId: `preflight_${operationId}`,
      summary: 'Whether scripts of this origin may call this path',
      parameters: [origin, ...inPath],
      responses: {
        204: { description: 'They may.', headers: headers.preflight },
        ...failuresWith('cross_site', ...(inPath.length > 0 ? (['too_long'] as const) : [])),
      },
    };
    return [path, { ...methods, options }];
  });
  return Object.fromEntries(all);
}

const origin = {
  name: 'origin',
  in: 'header',
  required: true,
  schema: { type: 'string' },
  description: 'The origin of the page.',
};
