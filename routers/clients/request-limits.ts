/** Requests per team and minute, by its level; sandbox clients have no limit. */
export const REQUESTS_A_MINUTE = { hobby: 60, developer: 10_000 } as const
