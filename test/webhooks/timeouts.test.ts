import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { TIMEOUTS } from '../../server/webhooks/send/send.ts'
import { LEASE_MS } from '../../server/webhooks/worker.ts'

const page = (name: string) => readFile(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8')

it('an attempt has the times of the documents, and ends 30 s before its lease', async () => {
  const { connectMs, totalMs } = TIMEOUTS
  const webhooks = await page('webhooks')
  expect(webhooks).toContain(`| ${connectMs / 1_000} s for the connection, ${totalMs / 1_000} s for the response.`)
  expect(webhooks).toContain(`After ${totalMs / 1_000} seconds without a response the delivery is repeated.`)
  expect(await page('webhook-workers')).toContain(`The leases of a killed worker expire after ${LEASE_MS / 1_000} s;`)
  expect(LEASE_MS - totalMs).toBe(30_000)
})
