import { Agent, request as sent } from 'node:http'
import type { Load } from './process.ts'

/** Keeps `concurrency` requests in flight until `count` are sent; returns the number of responses that are no success. */
async function run({ port, concurrency, requests, count }: Load) {
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency })
  let next = 0
  let failed = 0
  let sample = ''
  const one = (i: number) =>
    new Promise<void>((resolve) => {
      const { method, path, headers, body } = requests[i % requests.length]!
      const call = sent({ host: '127.0.0.1', port, agent, method, path, headers }, (response) => {
        const ok = response.statusCode === 200 || response.statusCode === 201
        if (!ok) failed++
        if (!ok || i === 0) response.setEncoding('utf8').on('data', (chunk) => (sample += chunk))
        else response.resume()
        response.on('end', resolve)
      })
      call.on('error', () => {
        failed++
        resolve()
      })
      call.end(body)
    })
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (next < count) await one(next++)
    }),
  )
  agent.destroy()
  return { failed, sample }
}

process.on('message', (load: Load) => {
  run(load).then((result) => process.send!(result))
})
