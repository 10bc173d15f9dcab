import { int, list, object, text } from './schemas.mjs'

const QUOTA = 10_485_760
const name = { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' }
const address = object({ collection: name, key: name })
const entry = object({ key: text, value: {}, updatedAt: int })
const listed = {
  params: address,
  querystring: object({
    limit: { ...int, minimum: 1, maximum: 200, default: 50 },
    offset: { ...int, minimum: 0, default: 0 },
  }),
  response: { 200: object({ items: list(entry), total: int }) },
}
const put = { params: address, body: { ...object({ value: {} }), required: ['value'] }, response: { 200: entry } }

const toEntry = ({ key, value, updatedAt }) => ({
  key,
  value: JSON.parse(value),
  updatedAt: Math.floor(updatedAt.getTime() / 1000),
})
const select = { key: true, value: true, updatedAt: true }

/**
 * Serialises the writers of a store. The database's triggers change the counter, which otherwise would cost another statement.
 */
async function lockUsage(tx, { appId, clubId }) {
  const [usage] = await tx.$queryRaw`SELECT bytes FROM "StorageUsage"
    WHERE "appId" = ${appId} AND "clubId" = ${clubId} FOR UPDATE`
  return usage
}

export const storageRoutes = (prisma) => async (app) => {
  const ofCaller = ({ caller: { app, club }, params: { collection } }) => ({
    appId: app,
    clubId: club,
    owner: '',
    collection,
  })

  app.get('/:collection/:key', { schema: { params: address, response: { 200: entry } } }, async (request, reply) => {
    const where = { address: { ...ofCaller(request), key: request.params.key } }
    const found = await prisma.storageEntry.findUnique({ where, select })
    return found ? toEntry(found) : reply.code(404).send({ detail: 'Unknown key.' })
  })

  app.get('/:collection', { schema: listed }, async (request) => {
    const { limit, offset } = request.query
    const where = ofCaller(request)
    const [items, total] = await Promise.all([
      prisma.storageEntry.findMany({ where, select, orderBy: { key: 'asc' }, take: limit, skip: offset }),
      prisma.storageEntry.count({ where }),
    ])
    return { items: items.map(toEntry), total }
  })

  app.delete('/:collection/:key', { schema: { params: address } }, async (request, reply) => {
    const place = ofCaller(request)
    const where = { ...place, key: request.params.key }
    const count = await prisma.$transaction(async (tx) => {
      await lockUsage(tx, place)
      return (await tx.storageEntry.deleteMany({ where })).count
    })
    return count === 1 ? reply.code(204).send() : reply.code(404).send({ detail: 'Unknown key.' })
  })

  app.put('/:collection/:key', { schema: put }, async (request, reply) => {
    const place = ofCaller(request)
    const { key } = request.params
    const value = JSON.stringify(request.body.value)
    const stored = await prisma.$transaction(async (tx) => {
      const usage = await lockUsage(tx, place)
      const where = { address: { ...place, key } }
      const before = await tx.storageEntry.findUnique({ where, select: { value: true } })
      const growth = Buffer.byteLength(value) - (before ? Buffer.byteLength(before.value) : 0)
      if (growth > 0 && Number(usage?.bytes ?? 0) + growth > QUOTA) return null
      const written = { value, version: crypto.randomUUID(), updatedAt: new Date() }
      return tx.storageEntry.upsert({ where, create: { ...place, key, ...written }, update: written, select })
    })
    return stored ? toEntry(stored) : reply.code(413).send({ detail: 'Beyond the quota.' })
  })
}
