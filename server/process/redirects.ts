import type { Database } from '../../prisma/client.ts'

/** Registers redirects of a demo client; false when it has been removed. Those of services at other ports stay. */
export async function registerRedirects(db: Database, id: string, addresses: readonly string[]): Promise<boolean> {
  const client = await db.client.findUnique({ where: { id }, select: { redirectUris: true } })
  if (!client) return false
  const push = addresses.filter((address) => !client.redirectUris.includes(address))
  if (push.length > 0) await db.client.update({ where: { id }, data: { redirectUris: { push } }, select: { id: true } })
  return true
}
