/** Requests per minute of a team, by level; sandbox clients have no limit. */
export const REQUESTS_A_MINUTE = { hobby: 60, developer: 10_000 } as const
