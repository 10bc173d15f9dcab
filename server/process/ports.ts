import type { HttpParts } from '../http/app.ts'
import { createPublicApp } from '../http/app.ts'
import { corsHeaders } from '../http/cors.ts'
import { listen } from '../http/listen.ts'
import { refusalOfRawName } from '../http/raw-name.ts'
import { createInternalApp } from '../trpc/app.ts'

interface Addresses {
  port: number
  host?: string | undefined
  internalPort: number
  internalHost?: string | undefined
}

/** Opens both ports, or none. Throws if one is taken. */
export async function openPorts(parts: HttpParts, { port, host, internalPort, internalHost }: Addresses) {
  const asPublic = { setting: 'PORT', host, headers: corsHeaders, toRefusal: refusalOfRawName }
  const open = await listen(createPublicApp(parts), port, asPublic)
  const asInternal = { setting: 'INTERNAL_PORT', host: internalHost }
  const internal = await listen(createInternalApp(parts), internalPort, asInternal).catch(async (error) => {
    await open.close(0)
    throw error
  })
  return {
    publicPort: open.port,
    internalPort: internal.port,
    close: (graceMs: number, drainMs?: number) =>
      Promise.all([open.close(graceMs, drainMs), internal.close(graceMs, drainMs)]),
    cut: () => open.cut() + internal.cut(),
  }
}
