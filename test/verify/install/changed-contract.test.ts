import { connect, createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Service } from '../../process/service.ts'
import { asAnna, dataDirectory, dataDirectoryWithCluster, freePort, run, start } from '../../process/service.ts'
import prepare from '../../support/address-setup.ts'
import { endAfterAll } from '../../support/after-all.ts'
import { listenLocally } from '../../support/local-server.ts'

const atEnd = endAfterAll()
let service: Service
let DATA_DIR: string
beforeAll(async () => {
  DATA_DIR = await dataDirectoryWithCluster(atEnd)
  service = await start({ DATA_DIR }, { atEnd })
})

const at = (port: number) => `http://localhost:${port}`

/** Runs two files of the tests against an address, as `.ci/start-everywhere` runs all of them. */
async function runAt(port: number, least: number) {
  const files = ['service', 'authentication'].map((name) => `test/conformance/${name}.test.ts`)
  const root = fileURLToPath(new URL('../../..', import.meta.url))
  const settings = {
    CONFORMANCE_ADDRESS: at(port),
    CONFORMANCE_INTERNAL_PORT: String(service.internalPort),
    CONFORMANCE_LEAST: String(least),
    DATA_DIR,
  }
  const args = [`${root}/node_modules/vitest/vitest.mjs`, 'run', '--reporter=json', ...files]
  const { code, stdout, stderr } = await run(args, settings, { cwd: root }).ended
  const report: { testResults: { assertionResults: { title: string; status: string }[] }[] } = JSON.parse(
    /^\{.*\}$/m.exec(stdout)![0],
  )
  const tests = report.testResults.flatMap((one) => one.assertionResults)
  const titles = (status: string) => tests.flatMap((test) => (test.status === status ? [test.title] : [])).sort()
  return { code, stderr, passed: titles('passed'), failed: titles('failed'), skipped: titles('skipped') }
}

/** The bytes that Anna's app stores, one of them by this. */
async function readUsed() {
  const { headers } = await asAnna(service, 'PUT', '/storage/found/entry', { value: 1 })
  return headers['x-storage-used']
}

/** The start of a request, and a text of its response with what comes in its place, of as many bytes. */
type Fault = [request: RegExp, text: string, instead: string]

/** A proxy to the service that changes its responses, each of which ends its connection. */
function faultyProxy(faults: Fault[]): Promise<number> {
  const server = createServer((client) => {
    const [sent, received]: Buffer[][] = [[], []]
    const upstream = connect(service.port, '127.0.0.1')
    client.on('data', (chunk) => {
      sent!.push(chunk)
      const text = chunk.toString('latin1').replace('Connection: keep-alive', 'Connection: close     ')
      upstream.write(Buffer.from(text, 'latin1'))
    })
    upstream.on('data', (chunk) => received!.push(chunk))
    upstream.on('end', () => {
      const [request, response] = [sent, received].map((chunks) => Buffer.concat(chunks!).toString('latin1'))
      client.end(Buffer.from(changed(request!, response!), 'latin1'))
    })
    upstream.on('error', () => client.destroy())
    client.on('error', () => upstream.destroy()).on('close', () => upstream.destroy())
  })
  const changed = (request: string, response: string) => {
    const fault = faults.find(([start, text]) => start.test(request) && response.includes(text))
    return fault ? response.replace(fault[1], fault[2]) : response
  }
  return listenLocally(server)
}

describe('the tests of the contract at an address', () => {
  it('fail where another server changes a status, a header or a byte, and leave the data of others as it was', async () => {
    const faults: Fault[] = [
      [/^GET \/v1\/storage\/exact\/exact /, '1e400', '1e401'],
      [/^POST \/v1\/me\/profile /, '\r\nAllow: ', '\r\nXllow: '],
      [/^GET \/v1\/\S* HTTP\/1.1\r\nHost: \S+\r\nX-Large/, ' 431 ', ' 400 '],
      [/^GET \/lms\/v1\/me\/profile /, '"detail":', '"result":'],
      [/^garbage/, 'Connection: close', 'Connection: alive'],
    ]
    const { code, stderr, passed, failed, skipped } = await runAt(await faultyProxy(faults), 1_000)
    expect(failed).toEqual([
      'answers POST apps.test/v1/me/profile',
      'answers a header of 20 KB',
      'answers bytes that are not HTTP',
      'is returned byte for byte: exact',
      'of an API exists at localhost too, below its name',
    ])
    // What needs the process of the service.
    expect(skipped).toEqual([
      'appears in the message for clients without an app only',
      'expires in the second of its exp, even if it was accepted before',
      'follows changes of membership, level, app and client within 5 seconds',
    ])
    expect([code, stderr]).toEqual([1, expect.stringContaining(`${passed.length} tests passed, of at least 1000.`)])
    expect(await readUsed()).toBe('1')
  })

  it.each([
    ['nothing answers', async () => ({ CONFORMANCE_ADDRESS: at(await freePort()) }), 'ECONNREFUSED'],
    ['DATA_DIR is not that of the service', async () => ({ DATA_DIR: await dataDirectory() }), 'development-key.json'],
  ])('do not begin where %s', async (_, change, message) => {
    const settings = { CONFORMANCE_ADDRESS: at(service.port), DATA_DIR, ...(await change()) }
    for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value)
    onTestFinished(() => void vi.unstubAllEnvs())
    await expect(prepare({} as never)).rejects.toThrow(message)
  })
})
