import pg from 'pg'
import { describe, expect, it, vi } from 'vitest'
import { routes } from '../../rest-facade/routes.ts'
import { useWorld } from '../support/started.ts'
import { newTenant } from './me-tenant.ts'

const world = useWorld()

describe.each(routes.flatMap(({ path }) => (path.startsWith('/me/') ? path : [])))('GET %s', (path) => {
  it('takes at most two statements: one for access, one for the data', async () => {
    const { get } = await newTenant(world)
    const statements = vi.spyOn(pg.Client.prototype, 'query')
    expect(await get(path)).toMatchObject({ status: 200 })
    const first = statements.mock.calls.length
    await get(path)
    const second = statements.mock.calls.length - first
    statements.mockRestore()
    expect({ first, second }).toEqual({ first: 2, second: 1 })
  })
})
