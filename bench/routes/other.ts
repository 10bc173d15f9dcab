import type { BenchedRoute } from './route.ts'
import { EACH } from './route.ts'

const toAppId = (i: number) => `tenant-${Math.floor(i / EACH)}`
const url = 'https://hooks.example.org/rowing'

/** The bare handler throws when the statement finds no app with this id and provider. */
const webhook = (
  method: 'GET' | 'PUT' | 'DELETE',
  statement: string,
  more: Partial<BenchedRoute>,
  answer: (row: unknown) => unknown,
): BenchedRoute => ({
  target: 1.5,
  section: 'notify',
  method,
  path: (i) => `/v1/apps/${toAppId(i)}/webhook`,
  ...more,
  procedure: {
    path: `webhook.${method.toLowerCase()}`,
    input: (i) => ({ id: toAppId(i), ...JSON.parse(more.body ?? '{}') }),
  },
  async bare(pool, { club: provider }, path, body) {
    const values = [path.split('/')[3], provider, ...(body ? [JSON.parse(body).url] : [])]
    const text = `${statement} WHERE id = $1 AND "providerId" = $2`
    const { rows, rowCount } = await pool.query({ name: `webhook-${method}`, text, values })
    if (rowCount !== 1) throw new Error('no app')
    const answered = answer(rows[0])
    return answered === undefined ? '' : JSON.stringify(answered)
  },
})

const GET = `SELECT "webhookUrl" AS url, "webhookSecret" IS NOT NULL AS "hasSecret" FROM "App"`
const set = (to: string) => `UPDATE "App" SET "webhookUrl" = ${to}, "webhookSecret" = NULL`

export const otherRoutes: Record<string, BenchedRoute> = {
  root: {
    method: 'GET',
    path: () => '/v1/',
    procedure: { path: 'root' },
    bare: async (_pool, { club }) => JSON.stringify({ api: 'apps', organisation: club }),
  },
  'webhook-get': webhook('GET', GET, { masked: ['url'] }, (row) => row),
  'webhook-put': webhook('PUT', set('$3'), { body: JSON.stringify({ url }), reached: 1.7 }, () => ({
    url,
    hasSecret: false,
  })),
  'webhook-delete': webhook('DELETE', set('NULL'), {}, () => undefined),
}
