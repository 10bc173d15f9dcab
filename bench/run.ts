import { parseArgs } from 'node:util'
import type { Bench } from './database.ts'
import { createBench } from './database.ts'
import type { Options as Others } from './deliveries.ts'
import { benchDead, benchDeliveries } from './deliveries.ts'
import { measuring, median } from './measure.ts'
import type { Server } from './process.ts'
import { freePort, pinned, startLoad, startServer } from './process.ts'
import { routes } from './routes.ts'

const usage = `npm run bench -- [get | put | list | profile | storage …] [--rounds 7] [--requests 10000] [--prof directory]
  [--service 'what node runs' …]  to compare other builds of the service in the same run
npm run bench -- deliveries | dead [--seconds 30] [--prof directory]`

/** Benches of another kind than requests. */
const others: Record<string, (options: Others) => Promise<void>> = { deliveries: benchDeliveries, dead: benchDead }

/** CPU time of the server's process for each request: of the service, and of a bare handler, in turns under one load. */
async function main() {
  const { values, positionals } = parseArgs({
    options: {
      rounds: { type: 'string', default: '7' },
      requests: { type: 'string', default: '10000' },
      prof: { type: 'string' },
      seconds: { type: 'string', default: '30' },
      service: { type: 'string', multiple: true, default: ['dist/server/main.js'] },
      help: { type: 'boolean' },
    },
    allowPositionals: true,
  })
  const other = others[positionals[0] ?? '']
  if (other) return other({ seconds: Number(values.seconds), prof: values.prof, say })
  const names = (positionals.length > 0 ? positionals : ['storage']).flatMap((name) =>
    name === 'storage' ? ['get', 'put', 'list'] : name,
  )
  if (values.help || !names.every((name) => Object.hasOwn(routes, name))) return say(usage)
  const [rounds, requests] = [Number(values.rounds), Number(values.requests)]
  const flags = values.prof ? ['--cpu-prof', `--cpu-prof-dir=${values.prof}`] : []

  const bench = await createBench()
  const load = startLoad()
  try {
    say(`CPU time of the server's process, µs a request: medians of ${rounds} rounds of ${requests}; ${pinned}.`)
    say('route    conc.    bare  service  ratio  least – most   target')
    for (const name of names) {
      const servers = await startAll([
        () => startBare(bench, name),
        ...values.service.map((words) => () => startService(bench, [...flags, ...words.split(' ')])),
      ])
      try {
        for (const concurrency of [16, 32]) {
          const measure = measuring(load, bench.tenants, name, concurrency, requests)
          // What is compiled, connected and remembered by then is not paid for in a round.
          for (const server of servers) await measure(server, 2)
          const figures: number[][] = servers.map(() => [])
          for (let round = 0; round < rounds; round++) {
            for (const [i, server] of servers.entries()) figures[i]!.push(await measure(server))
          }
          const [bare, ...services] = figures
          for (const [i, service] of services.entries()) {
            const label = services.length > 1 ? `   ${values.service[i]}` : ''
            say(row(name, concurrency, bare!, service) + label)
          }
        }
      } finally {
        await Promise.all(servers.map(({ stop }) => stop()))
      }
    }
  } finally {
    await load.stop()
    await bench.remove()
  }
}

function row(name: string, concurrency: number, bare: number[], service: number[]): string {
  const ratio = median(service) / median(bare)
  const ratios = service.map((us, round) => us / bare[round]!).sort((a, b) => a - b)
  const { target } = routes[name]!
  return [
    name.padEnd(8),
    String(concurrency).padStart(5),
    median(bare).toFixed(1).padStart(7),
    median(service).toFixed(1).padStart(8),
    ratio.toFixed(2).padStart(6),
    ` ${ratios[0]!.toFixed(2)} – ${ratios.at(-1)!.toFixed(2)}`,
    target === undefined ? '' : `   ${target.toFixed(1)}${ratio > target ? ' MISSED' : ''}`,
  ].join(' ')
}

const startBare = ({ url, dataDir }: Bench, name: string) =>
  startServer(['--import', 'tsx', new URL('bare.ts', import.meta.url).pathname], {
    DATABASE_URL: url,
    DATA_DIR: dataDir,
    ROUTE: name,
  })

/** As it is in production: compiled, and writing its log. */
const startService = async ({ url, dataDir }: Bench, args: string[]) =>
  startServer(args, {
    DATABASE_URL: url,
    DATA_DIR: dataDir,
    INTERNAL_PORT: String(await freePort()),
    LOG_LEVEL: 'info',
    SECRETS_KEY: Buffer.alloc(32).toString('base64'),
  })

/** All of them, or none: what has started is stopped when another does not. */
async function startAll(starters: (() => Promise<Server>)[]): Promise<Server[]> {
  const servers: Server[] = []
  try {
    for (const start of starters) servers.push(await start())
    return servers
  } catch (error) {
    await Promise.all(servers.map(({ stop }) => stop()))
    throw error
  }
}

const say = (text: string) => void process.stdout.write(`${text}\n`)

await main()
