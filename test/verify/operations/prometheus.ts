import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../../process/service.ts'

const rules = join(import.meta.dirname, '../../../deploy/prometheus/alerts.yaml')

/** What passes for a minute, two, five and ten here, so that a fault need not last longer. */
const QUICKER: Record<string, string> = { '1m': '10s', '2m': '12s', '5m': '20s', '10m': '20s' }
/** Bounds of times that grow as quickly as the clock, in seconds. */
const SOONER: [string, string][] = [
  ['max(delivery_oldest_due_seconds) > 120', 'max(delivery_oldest_due_seconds) > 12'],
  ['delivery_turn_age_seconds > 60', 'delivery_turn_age_seconds > 12'],
  ['max(database_oldest_snapshot_seconds) > 600', 'max(database_oldest_snapshot_seconds) > 30'],
]

/** The rules with shorter times; throws when one of them is not there to be replaced. */
function shortened(text: string): string {
  const quicker = text.replace(/(for: |\[)(\d+m)\b/g, (_, before: string, time: string) => {
    if (!QUICKER[time]) throw new Error(`What is ${time} here?`)
    return before + QUICKER[time]
  })
  return SOONER.reduce((sooner, [from, to]) => {
    if (!sooner.includes(from)) throw new Error(`No rule has ${from}.`)
    return sooner.replace(from, to)
  }, quicker)
}

/** The data of the answers to both questions. */
interface Data {
  alerts: { state: string; labels: { alertname: string } }[]
  result: unknown[]
}

export type Prometheus = Awaited<ReturnType<typeof startPrometheus>>

/**
 * A Prometheus that scrapes these ports of this machine every 5 s, with the rules in shorter times. Every 2 s, some scrapes have no
 * delay of the event loop: it is measured once a second, and not between a scrape and the first measurement after it.
 */
export async function startPrometheus(port: number, targets: readonly number[]) {
  const directory = await mkdtemp(join(tmpdir(), 'member-apps-prometheus-'))
  const path = (name: string) => join(directory, name)
  await writeFile(path('alerts.yaml'), shortened(await readFile(rules, 'utf8')))
  // JSON is YAML.
  const config = {
    global: { scrape_interval: '5s', scrape_timeout: '2s', evaluation_interval: '1s' },
    rule_files: [path('alerts.yaml')],
    scrape_configs: [
      { job_name: 'member-apps', static_configs: [{ targets: targets.map((target) => `127.0.0.1:${target}`) }] },
    ],
  }
  await writeFile(path('prometheus.yml'), JSON.stringify(config))
  const args = [`--config.file=${path('prometheus.yml')}`, `--storage.tsdb.path=${path('data')}`]
  const child = spawn('prometheus', [...args, `--web.listen-address=127.0.0.1:${port}`], { stdio: 'ignore' })
  const ended = new Promise((resolve) => child.once('close', resolve))
  const ask = async (what: string) => (await fetch(`http://127.0.0.1:${port}${what}`)).json() as Promise<{ data: Data }>
  await until(
    () =>
      fetch(`http://127.0.0.1:${port}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      ),
    (isReady) => isReady,
  )
  return {
    /** The names of the alerts that fire now, each once, in order. */
    async firing(): Promise<string[]> {
      const { data } = await ask('/api/v1/alerts')
      return [
        ...new Set(data.alerts.flatMap(({ state, labels }) => (state === 'firing' ? [labels.alertname] : []))),
      ].sort()
    },
    /** Whether the alert fired at any time since Prometheus was started. */
    async hasFired(alert: string): Promise<boolean> {
      const query = `count_over_time(ALERTS{alertname="${alert}",alertstate="firing"}[1h])`
      const { data } = await ask(`/api/v1/query?query=${encodeURIComponent(query)}`)
      return data.result.length > 0
    },
    async stop() {
      child.kill('SIGKILL')
      await ended
      await rm(directory, { recursive: true, force: true })
    },
  }
}
