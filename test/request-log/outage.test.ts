import { describe, expect, it } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import { errors } from '../../routers/kernel/errors.ts'
import { openRequestLog } from '../../server/request-log/request-log.ts'
import { useWorld } from '../support/started.ts'
import { openTestDatabase } from '../support/test-database.ts'

const request = { requestId: 'r', method: 'GET', route: '/storage/{collection}/{key}', ms: 1, member: null }

const world = useWorld()

/** A log that writes when it is flushed or closed. */
const openLog = (db: Database, failed: (error: unknown, lines: number) => void) =>
  openRequestLog({ db, cipher: world.core.cipher, failed, writeMs: 2 ** 31 - 1 })

describe('the request log', () => {
  it('answers requests while its write waits, and writes them after it', async () => {
    const { db, ids, requestLog } = world
    const where = { teamId: ids.team }
    await world.call('GET', '/storage/c/none')
    const writes: Promise<void>[] = []
    await db.inTransaction(async (connection) => {
      await connection.query('SELECT FROM "Team" WHERE id = $1 FOR UPDATE', [ids.team])
      writes.push(requestLog.flush(), requestLog.flush())
      expect((await world.call('GET', '/storage/c/none')).status).toBe(404)
      expect(await db.refusedRequest.count({ where })).toBe(0)
    })
    await Promise.all(writes)
    await requestLog.flush()
    expect(await db.refusedRequest.count({ where })).toBe(2)
    const counted = await db.clientUsage.aggregate({ where: { ...where, span: 'hour' }, _sum: { refused: true } })
    expect(counted._sum.refused).toBe(2)
  })

  it('drops lines while the database is away, and those beyond 2,000', async () => {
    const db = openTestDatabase('postgresql://127.0.0.1:1/none')
    const dropped: number[] = []
    const log = openLog(db, (_error, lines) => dropped.push(lines))
    const refuse = (clients: number, each: number) => {
      for (let i = 0; i < clients * each; i++) log.refused(`c${i % clients}`, i, errors.keyUnknown(), request)
    }
    refuse(1, 201)
    await log.flush()
    refuse(12, 200)
    await log.flush()
    refuse(5, 1)
    await log.close()
    expect(dropped).toEqual([200, 2_000, 4])
    await db.$disconnect()
  })

  it('writes what is left when it is closed', async () => {
    const { db, ids } = world
    const log = openLog(db, (error) => expect.fail(String(error)))
    const at = Date.parse('2100-01-01T00:00:00Z')
    log.answered(ids.client, at, { ...request, status: 200 })
    log.answered(ids.client, at + 60_000, { ...request, status: 200 })
    log.refused(ids.client, at + 60_000, errors.scopeMissing('s'), request)
    await log.close()
    const where = { teamId: ids.team, at: { gte: new Date(at) } }
    expect(await db.refusedRequest.findMany({ where, select: { error: true, route: true } })).toEqual([
      { error: 'scopeMissing', route: request.route },
    ])
    const rows = await db.clientUsage.findMany({ where, orderBy: [{ span: 'asc' }, { at: 'asc' }] })
    expect(rows.map(({ span, ok, refused }) => [span, ok, refused])).toEqual([
      ['minute', 1, 0],
      ['minute', 1, 1],
      ['hour', 2, 1],
    ])
  })
})
