import { readApp } from './apps.ts'
import type { PageRequest, Routes } from './page-request.ts'
import { CLIENTS_OFFERED } from './pages/client-choice.ts'
import type { Counts, UsageView } from './pages/usage.ts'
import { usagePage } from './pages/usage.ts'
import { readTeam } from './teams.ts'

/** Seconds per bar, and of the whole chart. */
const spans = { minute: [1_800, 86_400], hour: [86_400, 30 * 86_400] } as const

/** Sums counts into bars, the last of which ends now; empty ones are included. */
export function toBars(counts: readonly Counts[], by: keyof typeof spans, nowSeconds: number): Counts[] {
  const [step, whole] = spans[by]
  const last = Math.floor(nowSeconds / step) * step
  const bars = Array.from({ length: whole / step }, (_, at) => ({
    at: last - whole + (at + 1) * step,
    ok: 0,
    refused: 0,
    limited: 0,
  }))
  for (const { at, ok, refused, limited } of counts) {
    const bar = bars[Math.floor((at - bars[0]!.at) / step)]
    if (!bar) continue
    bar.ok += ok
    bar.refused += refused
    bar.limited += limited
  }
  return bars
}

export function usagePages({ get }: Routes, now: () => number) {
  const show = async (request: PageRequest, { team, app }: Pick<UsageView, 'team' | 'app'>) => {
    const by = request.query.get('by') === 'hour' ? 'hour' : 'minute'
    const client = request.query.get('client') ?? ''
    const usage = await request.developer.usage({ team: team.id, app: app?.id, by, ...(client !== '' && { client }) })
    const query = { team: team.id, apps: app && [app.id], limit: CLIENTS_OFFERED }
    const { items: clients } = await request.developer.clients.list(query)
    return usagePage(request, { team, app, clients, usage, by, bars: toBars(usage.counts, by, now() / 1000) })
  }
  get('/teams/:team/usage', async (request) => show(request, { team: await readTeam(request) }))
  get('/teams/:team/apps/:app/usage', async (request) => show(request, await readApp(request)))
}
