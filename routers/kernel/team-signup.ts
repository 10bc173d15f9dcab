/** Who creates teams: the person at once, the operator at their request, or the operator alone (`TEAM_SIGNUP`). */
export const teamSignups = ['open', 'request', 'closed'] as const

export type TeamSignup = (typeof teamSignups)[number]
