import { once } from 'node:events'
import { startTopology } from './start.ts'

const usage = `npm run topology [-- --quiet]
Runs deploy/compose.yaml as processes on free ports of this machine, until Ctrl-C: two nodes, a worker, Redis and HAProxy, on
a database of its own on the server of TEST_DATABASE_URL or DATABASE_URL, else on an embedded one. --quiet: without logs.
`

const say = (text: string) => void process.stdout.write(text)

async function main() {
  const [option] = process.argv.slice(2)
  if (option !== undefined && option !== '--quiet') return say(usage)
  // Both signals may come twice, as npm passes on the Ctrl-C that the terminal has sent already.
  const ended = Promise.race(['SIGINT', 'SIGTERM'].map((signal) => once(process, signal)))
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {})
  const topology = await startTopology({
    server: process.env.TEST_DATABASE_URL || process.env.DATABASE_URL,
    ...(option === undefined && { onLine: (service, line) => say(`${service.padEnd(8)} ${line}\n`) }),
  })
  const { publicPort, internalPort, redisPort, databaseUrl, nodes, workerPort } = topology
  say(`
apps        http://apps.localhost:${publicPort}/v1, likewise lms, notify and auth
first-party http://127.0.0.1:${internalPort}/trpc
${nodes.map((node) => `${node.name}      http://127.0.0.1:${node.publicPort}, internal http://127.0.0.1:${node.internalPort}`).join('\n')}
worker      internal http://127.0.0.1:${workerPort}
redis       127.0.0.1:${redisPort}
database    ${databaseUrl}

`)
  await ended
  await topology.close()
}

await main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
})
