export const targetHref = (name: string): string => `/targets/${encodeURIComponent(name)}`;

/** Identifiers of incidents are paths by themselves. */
export const incidentHref = (id: string): string => `/incidents/${id.split('/').map(encodeURIComponent).join('/')}`;

/** The same incident as Markdown. */
export const postMortemHref = (id: string): string => `${incidentHref(id)}.md`;

/** Where a status page is; the one named status has the short address. */
export const statusHref = (page: string): string => (page === 'status' ? '/status' : `/status/${page}`);

/** The stream of what happens to a target. */
export const eventsOf = (target: string): string => `/api/v1/events?target=${encodeURIComponent(target)}`;
