import { EACH } from './requests.ts'
import type { BenchedRoute } from './routes.ts'

/** Each developer's own app. */
const appOf = (i: number) => `tenant-${Math.floor(i / EACH)}`
const URL_SET = 'https://hooks.example.org/rowing'

/** The other operations of apps and of those who develop them. No targets. */
export const otherRoutes: Record<string, BenchedRoute> = {
  root: {
    method: 'GET',
    path: () => '/v1/',
    procedure: { path: 'root' },
    bare: async (_pool, { club }) => JSON.stringify({ api: 'apps', organisation: club }),
  },

  'webhook-get': {
    section: 'notify',
    method: 'GET',
    path: (i) => `/v1/apps/${appOf(i)}/webhook`,
    masked: ['url'],
    procedure: { path: 'webhook.get', input: (i) => ({ id: appOf(i) }) },
    async bare(pool, { club: provider }, path) {
      const { rows } = await pool.query({
        name: 'webhook-get',
        text: `SELECT "webhookUrl" AS url, "webhookSecret" IS NOT NULL AS "hasSecret" FROM "App"
          WHERE id = $1 AND "providerId" = $2`,
        values: [path.split('/')[3], provider],
      })
      return JSON.stringify(rows[0])
    },
  },

  'webhook-put': {
    section: 'notify',
    method: 'PUT',
    path: (i) => `/v1/apps/${appOf(i)}/webhook`,
    body: JSON.stringify({ url: URL_SET }),
    procedure: { path: 'webhook.put', input: (i) => ({ id: appOf(i), url: URL_SET }) },
    async bare(pool, { club: provider }, path, body) {
      const { url } = JSON.parse(body)
      const { rowCount } = await pool.query({
        name: 'webhook-put',
        text: `UPDATE "App" SET "webhookUrl" = $3, "webhookSecret" = NULL
          WHERE id = $1 AND "providerId" = $2 AND state = 'active'`,
        values: [path.split('/')[3], provider, url],
      })
      if (rowCount !== 1) throw new Error('no app')
      return JSON.stringify({ url, hasSecret: false })
    },
  },

  'webhook-delete': {
    section: 'notify',
    method: 'DELETE',
    path: (i) => `/v1/apps/${appOf(i)}/webhook`,
    procedure: { path: 'webhook.delete', input: (i) => ({ id: appOf(i) }) },
    async bare(pool, { club: provider }, path) {
      const { rowCount } = await pool.query({
        name: 'webhook-delete',
        text: `UPDATE "App" SET "webhookUrl" = NULL, "webhookSecret" = NULL
          WHERE id = $1 AND "providerId" = $2 AND state = 'active'`,
        values: [path.split('/')[3], provider],
      })
      if (rowCount !== 1) throw new Error('no app')
      return ''
    },
  },
}
