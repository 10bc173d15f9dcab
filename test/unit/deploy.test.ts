import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { envelope } from '../../rest-facade/envelope.ts'
import { errors } from '../../routers/kernel/errors.ts'
import { sectionNames } from '../../routers/kernel/scopes.ts'
import { parseContents } from '../../server/docs/build/contents.ts'
import { parsed } from '../../server/docs/build/source-file.ts'
import { corsHeaders, preflightHeaders } from '../../server/http/cors.ts'
import { variables } from '../../server/process/config.ts'
import { alertRules, parseSeconds, printedConfiguration } from '../support/alert-rules.ts'
import { renderChart } from '../support/chart.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const secrets = ['DATABASE_PASSWORD', 'POSTGRES_PASSWORD', 'REDIS_PASSWORD', 'SECRETS_KEY']
const text = read('deploy/compose.yaml')
const { services, 'x-program': program } = parse(text, { merge: true })
const programs = Object.entries<typeof program>(services).filter(([, { image }]) => image === program.image)
const names = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([name]) => name)
const assigned = (text: string) => [...text.matchAll(/^#? ?([A-Z][A-Z_]+)=/gm)].map(([, name]) => name!)

describe('what deploy/ sets', () => {
  it('is a setting of the service', () => {
    const chart = renderChart(join(root, 'deploy/helm/member-apps-api'))
    const values = read('deploy/helm/member-apps-api/values.yaml')
    const named = new Set([
      ...programs.flatMap(([, { environment }]) => Object.keys(environment).filter((name) => environment[name])),
      ...names(read('Dockerfile'), /^ENV .*$/gm).flatMap((line) => names(line, /[A-Z_]+(?==)/g)),
      ...names(JSON.stringify(chart), /(?<="name":")[A-Z][A-Z_]+(?=")/g),
      ...names(values, /^ *# .*$/gm).flatMap((line) => names(line, /\b[A-Z]+_[A-Z_]+\b/g)),
    ])
    expect(named.size).toBeGreaterThan(10)
    expect([...named].filter((name) => !variables.includes(name))).toEqual([])
  })

  it('is asked for in env.example, and nothing else but settings', () => {
    const asked = [...text.matchAll(/\$\{([A-Z_]+)/g)].map(([, name]) => name!)
    const listed = assigned(read('deploy/env.example'))
    expect([...new Set(asked)].filter((name) => !listed.includes(name))).toEqual([])
    expect(listed.filter((name) => !asked.includes(name) && !variables.includes(name))).toEqual([])
  })
})

describe('compose.yaml', () => {
  it('hides the password of the superuser from the service', () => {
    for (const [, { environment }] of programs) expect(environment.POSTGRES_PASSWORD).toBe('')
  })

  it('has two nodes, a worker and a migration of one image, which can write nowhere and have no rights', () => {
    expect(programs.map(([name, { command }]) => [name, command])).toEqual([
      ['node-1', undefined],
      ['node-2', undefined],
      ['worker', ['node', 'dist/server/worker.js']],
      ['migrate', ['node', 'dist/server/commands/main.js', 'migrate']],
    ])
    for (const [, program] of programs) {
      expect(program).toMatchObject({ read_only: true, cap_drop: ['ALL'], stop_grace_period: '20s' })
    }
  })

  it('starts the migration after PostgreSQL, nodes and worker after the migration, and the proxy after the nodes', () => {
    const [healthy, completed] = [{ condition: 'service_healthy' }, { condition: 'service_completed_successfully' }]
    expect(services.migrate.depends_on).toEqual({ postgres: healthy })
    for (const name of ['node-1', 'node-2']) {
      expect(services[name].depends_on).toEqual({ migrate: completed, redis: healthy })
    }
    expect(services.worker.depends_on).toEqual({ migrate: completed })
    expect(services.proxy.depends_on).toEqual({ 'node-1': healthy, 'node-2': healthy })
  })

  it('runs haproxy.cfg, which names its two nodes', () => {
    expect(services.proxy.volumes).toEqual(['./haproxy.cfg:/usr/local/etc/haproxy/haproxy.cfg:ro'])
    const hosts = names(read('deploy/haproxy.cfg'), /(?<=^ *server \S+ )[^:]+/gm)
    expect([...new Set(hosts)]).toEqual(['node-1', 'node-2'])
  })

  it.each(secrets)('does not start without %s, and has no default for it', (name) => {
    expect(text).toContain(`\${${name}:?in deploy/.env}`)
    expect(text).not.toContain(`\${${name}:-`)
  })

  it('publishes nothing of PostgreSQL, Redis and the nodes, and the internal port on this machine only', () => {
    const published = Object.keys(services).filter((name) => services[name].ports)
    expect(published).toEqual(['proxy'])
    expect(services.proxy.ports).toEqual([
      '$' + '{HTTP_PORT:-8080}:8080',
      '127.0.0.1:$' + '{INTERNAL_HTTP_PORT:-8081}:8081',
    ])
  })

  it('has no secret among the arguments of a program, which everybody on the machine can read', () => {
    const commands = JSON.stringify(Object.keys(services).map((name) => services[name].command))
    expect(commands).not.toContain('$' + '{')
    expect(commands).toContain('requirepass $$REDISCLI_AUTH')
  })

  it('gives a node the time for its drain, the requests in flight and the last resort', () => {
    const { environment, stop_grace_period } = services['node-1']
    expect(Number.parseInt(stop_grace_period, 10)).toBeGreaterThanOrEqual(Number(environment.DRAIN_SECONDS) + 8 + 1.5)
  })

  it('drains for longer than HAProxy takes to see that a node is not ready', () => {
    const [, inter, fall] = /inter (\d+)s fall (\d+)/.exec(read('deploy/haproxy.cfg'))!
    expect(Number(services['node-1'].environment.DRAIN_SECONDS)).toBeGreaterThan(Number(inter) * Number(fall))
  })
})

describe('.dockerignore', () => {
  const lines = read('.dockerignore')
    .split('\n')
    .filter((line) => line && !line.startsWith('#'))
  const named = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1))

  it('keeps everything out but what it names', () => {
    expect(lines[0]).toBe('*')
    const top = readdirSync(root)
    for (const path of named) expect(top).toContain(path.split('/')[0])
    expect(named.filter((path) => /^\.|^(?:test|bench|node_modules|dist)$/.test(path))).toEqual([])
  })

  it('lets in the pages of the documentation, which the build renders', () => {
    const contents = parseContents(parsed('docs/README.md', read('docs/README.md')))
    const pages = contents.flatMap(({ entries }) => entries.map(({ path }) => path))
    expect(pages.length).toBeGreaterThan(30)
    const isIn = (path: string, folders: string[]) => folders.some((folder) => `${path}/`.startsWith(`${folder}/`))
    expect(pages.filter((path) => !isIn(path, named) || isIn(path, lines))).toEqual([])
  })
})

describe('a unit of systemd', () => {
  it.each(readdirSync(join(root, 'deploy/systemd')))('%s confines its program, and runs one of dist', (file) => {
    const text = read(`deploy/systemd/${file}`)
    const setting = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(text)?.[1]
    expect([setting('DynamicUser'), setting('ProtectSystem'), setting('NoNewPrivileges')]).toEqual([
      'yes',
      'strict',
      'yes',
    ])
    const program = setting('ExecStart')!.replace('%i', 'main')
    const [, source] = /current\/dist\/(\S+)\.js/.exec(program)!
    expect(read(`${source}.ts`)).toBeTruthy()
  })

  it('is installed by the documentation, which prints no other', () => {
    for (const page of ['production.md', 'deployment.md']) {
      expect(read(`docs/${page}`)).toContain(
        '\ncp deploy/systemd/*.service /etc/systemd/system/\nsystemctl daemon-reload\n',
      )
    }
    const pages = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'))
    expect(pages.filter((page) => /^\[Service\]$/m.test(read(`docs/${page}`)))).toEqual([])
  })

  it('waits as long for the service as its drain and its requests take', () => {
    expect(read('deploy/systemd/member-apps@.service')).toContain('\nTimeoutStopSec=20\n')
  })
})

it('values.yaml has no secret', () => {
  expect(Object.keys(chartValues.settings)).not.toEqual(
    expect.arrayContaining([expect.stringMatching(/KEY|SECRET|PASSWORD|_URL$(?<!_BASE_URL)/)]),
  )
})

const [, nginx] = /^```nginx\n(.*?)^```$/ms.exec(read('docs/production.md'))!

// test/verify/topology/own-answers.test.ts asks the programs.
describe.each([
  ['haproxy.cfg', read('deploy/haproxy.cfg'), '%[var(txn.id)]', '%[var(txn.id)]'],
  ['the nginx in docs/production.md', nginx!, '$own_request_id', '$request_id'],
])('%s', (_, text, id, idOfWhatIsNotHttp) => {
  it('answers in the words and the envelope of the service', () => {
    const unavailable = JSON.stringify(envelope(errors.unavailable(), null, id))
    for (const section of sectionNames) {
      expect(JSON.stringify(envelope(errors.unavailable(), section, id))).toBe(unavailable)
    }
    expect(text).toContain(`'${unavailable}'`)
    expect(text).toContain(`'${JSON.stringify(envelope(errors.requestInvalid(), null, idOfWhatIsNotHttp))}'`)
    const oauth = { error: 'temporarily_unavailable', error_description: errors.unavailable().message }
    expect(text).toContain(`'${JSON.stringify(oauth)}'`)
    expect(text).toContain(`Retry-After ${errors.unavailable().headers['Retry-After']} `)
  })

  it('lets browsers read and send what the service does', () => {
    expect(text).toContain(`Access-Control-Expose-Headers "${corsHeaders['Access-Control-Expose-Headers']}"`)
    const allowed = preflightHeaders([])['Access-Control-Allow-Headers']
    expect(text).toContain(`Access-Control-Allow-Headers "${allowed}"`)
  })
})

it('haproxy.cfg and nginx have one page', () => {
  const pages = [read('deploy/haproxy.cfg'), nginx!].map((text) => /'(<!doctype html>.*?)<code>/.exec(text)?.[1])
  expect(pages[0]).toContain('<h1>')
  expect(pages[1]).toBe(pages[0])
})

const { global: printed, rule_files, scrape_configs } = parse(printedConfiguration())
const chartValues = parse(read('deploy/helm/member-apps-api/values.yaml'))
/** That of Prometheus without a setting. */
const DEFAULT = 60

describe('the printed configuration of Prometheus', () => {
  it('reads the metrics and the rules every 15 s', () => {
    expect(printed).toEqual({ scrape_interval: '15s', evaluation_interval: '15s' })
    expect(rule_files).toEqual(['alerts.yaml'])
  })
})

/** A job of the operator is the name of a Service unless the monitor replaces it. */
const monitorJobs = renderChart(join(root, 'deploy/helm/member-apps-api'), (values) => {
  values.serviceMonitor.enabled = true
})
  .filter(({ kind }) => kind === 'ServiceMonitor')
  .flatMap(({ spec }) => spec.endpoints)
  .map(({ relabelings = [] }) => relabelings.find((one: { targetLabel: string }) => one.targetLabel === 'job'))
  .map((relabeling) => relabeling?.replacement)

it.each([
  ['printed configuration of Prometheus', scrape_configs.map(({ job_name }: { job_name: string }) => job_name)],
  ['ServiceMonitor of the Helm chart', monitorJobs],
])('the %s gives all that it reads the job that the rules name', (_, jobs) => {
  const named = alertRules().flatMap(({ expr }) => [...expr.matchAll(/\bjob="([^"]*)"/g)].map(([, job]) => job))
  expect(named.length).toBeGreaterThan(0)
  expect([...new Set(jobs)]).toEqual([...new Set(named)])
})

describe.each([
  ['docs/monitoring.md', parseSeconds(printed?.scrape_interval ?? '1m')],
  ['the Helm chart', parseSeconds(chartValues.serviceMonitor.interval)],
  ['Prometheus itself', DEFAULT],
])('the scrape interval of %s, %i s', (_, interval) => {
  it('is at most a quarter of the range of every rate, of which there are some', () => {
    const ranges = alertRules().flatMap(({ alert, ranges }) => ranges.map((range) => ({ alert, range })))
    expect(ranges.length).toBeGreaterThan(0)
    expect(ranges.filter(({ range }) => range < 4 * interval)).toEqual([])
  })

  it('is at most the time for which a rule waits', () => {
    const waiting = alertRules().filter(({ forSeconds }) => forSeconds > 0)
    expect(waiting.filter(({ forSeconds }) => forSeconds < interval)).toEqual([])
  })
})
