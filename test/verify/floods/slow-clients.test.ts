import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { RawService } from '../../raw/raw-service.ts'
import { expectError, notHttp, notThisToken, startRawService } from '../../raw/raw-service.ts'
import type { Answer } from '../../raw/socket.ts'
import { Connection } from '../../raw/socket.ts'

let service: RawService
beforeAll(async () => {
  service = await startRawService()
})
afterAll(() => service.close())

it.concurrent('a request head that is sent slowly without end gets 408', async () => {
  const connection = await Connection.open(service.world.publicPort)
  await connection.send('GET /v1/ HTTP/1.1\r\nHost: apps.test\r\n')
  const answer = connection.answer()
  while (!connection.isEnded) {
    await connection.send('X: x\r\n').catch(() => {})
    await Promise.race([connection.ended, setTimeout(500)])
  }
  expectError(await answer, 408, notHttp)
})

it.concurrent('a client that keeps sending slowly after a refusal is disconnected, even with Connection: close', async () => {
  const slow = async (headers: string[]): Promise<Answer | undefined> => {
    const connection = await Connection.open(service.world.publicPort)
    const sent = { token: 'x', headers: ['Transfer-Encoding: chunked', ...headers] }
    await connection.send(service.request('PUT /v1/storage/col/k1', sent))
    const answer = connection.answer()
    while (!connection.isEnded) {
      await connection.send('1\r\nx\r\n')
      await Promise.race([connection.ended, setTimeout(100)])
    }
    return answer
  }
  const start = Date.now()
  for (const answer of await Promise.all([slow([]), slow(['Connection: close'])]))
    expectError(answer!, 401, notThisToken)
  expect(Date.now() - start).toBeLessThan(20_000)
})
