import { connect, createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { endAfterAll } from '../support/after-all.ts'
import { listenLocally } from '../support/local-server.ts'
import type { Service } from './service.ts'
import { asAnna, dataDirectory, dataDirectoryWithCluster, freePort, run, start } from './service.ts'

const entry = fileURLToPath(new URL('../../.ci/smoke.mjs', import.meta.url))
const at = (port: number) => `http://localhost:${port}`

const atEnd = endAfterAll()
let service: Service
let DATA_DIR: string
beforeAll(async () => {
  DATA_DIR = await dataDirectoryWithCluster(atEnd)
  service = await start({ DATA_DIR }, { atEnd })
})

const smoke = (urls: string[], dataDir = DATA_DIR) => run([entry, ...urls], { DATA_DIR: dataDir }).ended

/** What an app stores, and its webhook. */
async function state() {
  const { headers } = await asAnna(service, 'PUT', '/storage/found/entry', { value: 1 })
  await asAnna(service, 'DELETE', '/storage/found/entry')
  const lists = ['smoke', 'smoke-list'].flatMap((name) => [name, `${name}?scope=user`])
  const totals = lists.map(async (list) => (await asAnna(service, 'GET', `/storage/${list}`)).body.total)
  return { used: headers['x-storage-used'], totals: await Promise.all(totals) }
}
const untouched = { used: '1', totals: [0, 0, 0, 0] }

/** The start of a request, and a text of its response with what comes in its place, of as many bytes. */
type Fault = [request: RegExp, text: string, instead: string]

/** A proxy to the service that changes its responses. */
function faultyProxy(faults: Fault[]): Promise<number> {
  const server = createServer((client) => {
    const [sent, received]: Buffer[][] = [[], []]
    const upstream = connect(service.port, '127.0.0.1')
    client.pipe(upstream, { end: false })
    client.on('data', (chunk) => sent!.push(chunk))
    upstream.on('data', (chunk) => received!.push(chunk))
    // Each request of the smoke closes its connection: the response is whole.
    upstream.on('end', () => client.end(changed(Buffer.concat(sent!).toString(), Buffer.concat(received!).toString())))
    upstream.on('error', () => client.destroy())
    client.on('error', () => upstream.destroy()).on('close', () => upstream.destroy())
  })
  const changed = (request: string, response: string) => {
    const fault = faults.find(([start, text]) => start.test(request) && response.includes(text))
    return fault ? response.replace(fault[1], fault[2]) : response
  }
  return listenLocally(server)
}

describe('the contract smoke', () => {
  it('passes, and leaves storage and webhook as they were', async () => {
    const { code, stdout, stderr } = await smoke([at(service.port), at(service.internalPort)])
    expect([code, stdout, stderr]).toEqual([0, expect.stringMatching(/^1[0-9][0-9] passed, 0 failed\n$/), ''])
    expect(await state()).toEqual(untouched)
  })

  it('fails with the rows whose status, header or byte another server changes, and no others', async () => {
    const faults: Fault[] = [
      [/^GET \/apps\/v1\/storage\/smoke\/exact /, '1e400', '1e401'],
      [/^DELETE \/apps\/v1\/storage\/smoke\/exact /, ' 412 ', ' 409 '],
      [/^GET \/apps\/v1\/storage\/smoke\/large /, 'Müller', 'Muller '],
      [/^GET \/apps\/v1\/storage\/smoke\?limit=0 /, '"detail":', '"result":'],
      [/^POST \/lms\/v1\/quizzes\/closed-quiz\/results /, '"quiz_closed"', '"quiz_closes"'],
      [/^GET \/notify\/v1\/apps\/a\.b\/webhook /, '"request_id":', '"request_ID":'],
      [/^GET \/apps\/v1\/nothing /, 'Access-Control-Allow-Origin: ', 'Access-Control-Allow-Orange: '],
      [/^POST \/apps\/v1\/me\/profile /, '\r\nAllow: ', '\r\nXllow: '],
      [/^garbage/, 'Connection: close', 'Connection: alive'],
    ]
    const { code, stdout } = await smoke([at(await faultyProxy(faults)), at(service.internalPort)])
    const begins = (text: string) => expect.stringMatching(new RegExp(`^FAILED ${text}`))
    expect(stdout.trimEnd().split('\n')).toEqual([
      begins('GET returns it byte for byte, with the same ETag: text expected .*1e400.*, came .*1e401'),
      'FAILED DELETE with another ETag is 412: status expected 412, came 409',
      begins('GET returns a value of 1 MB byte for byte: text, from character 25, expected …'),
      begins('a limit of 0 is 422: body expected {"detail":.*}, came {"result":.*}$'),
      'FAILED a closed quiz is 409: body.error.reason expected "quiz_closed", came "quiz_closes"',
      begins('GET of a malformed id is 422: body.error expected {.*"request_id":.*, came {.*"request_ID":'),
      'FAILED an unknown path is 404: headers.access-control-allow-origin expected "*", came nothing',
      'FAILED another method is 405: headers.allow expected "GET, HEAD", came nothing',
      'FAILED bytes that are not HTTP are 400: headers.connection expected "close", came "alive"',
      expect.stringMatching(/^1[0-9][0-9] passed, 9 failed$/),
    ])
    expect(code).toBe(1)
    expect(await state()).toEqual(untouched)
  })

  it('fails where nothing answers', async () => {
    const { code, stdout } = await smoke([at(await freePort())])
    expect([code, stdout]).toEqual([1, expect.stringContaining('ECONNREFUSED')])
  })

  // The last one: its invalid tokens make the address be refused for a minute.
  it('fails with tokens of another DATA_DIR', async () => {
    const { code, stdout } = await smoke([at(service.port)], await dataDirectory())
    expect(stdout).toMatch(/^FAILED GET \/ names the API and the club: status expected 200, came 401; /)
    expect(code).toBe(1)
  })
})
