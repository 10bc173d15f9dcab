import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { alertRules, printedConfiguration, rulesFile as rules } from '../../support/alert-rules.ts'

const hasPromtool = spawnSync('promtool', ['--version']).status === 0
const skipReason = hasPromtool ? '' : ' (skipped: there is no promtool)'

/** A gauge's value, those between which it alternates, null where it is absent, or the growth of a counter. */
type Samples = number | number[] | null | { perMinute: number }
type Series = Record<string, Samples>

const each = (perMinute: number) => ({ perMinute })
const requests = (operation: string, status: number) =>
  `http_request_duration_seconds_count{operation="${operation}",status="${status}"}`
const mails = (outcome: string) => `mails_total{outcome="${outcome}"}`
const bucket = (le: string) => `http_request_duration_seconds_bucket{operation="storage.get",status="200",le="${le}"}`

/** The metrics that are served when an alert fires, and when it does not. */
const cases: Record<string, { bad: Series; good: Series }> = {
  ProcessAway: { bad: { 'up{job="member-apps"}': 0 }, good: { 'up{job="member-apps"}': 1 } },
  ServerErrors: {
    bad: { [requests('storage.get', 503)]: each(2), [requests('storage.get', 200)]: each(98) },
    good: {
      [requests('storage.get', 503)]: each(1),
      [requests('storage.get', 200)]: each(299),
      [requests('health', 503)]: each(90),
    },
  },
  SlowReads: {
    bad: { [bucket('0.25')]: each(98), [bucket('0.5')]: each(100), [bucket('+Inf')]: each(100) },
    good: { [bucket('0.25')]: each(100), [bucket('0.5')]: each(100), [bucket('+Inf')]: each(100) },
  },
  PoolExhausted: {
    bad: { database_wait_seconds_sum: each(60 * 60) },
    good: { database_wait_seconds_sum: each(4 * 60) },
  },
  DatabaseUnreachable: {
    bad: { database_connection_failures_total: each(60), 'database_errors_total{class="53"}': 0 },
    good: {
      database_connection_failures_total: 0,
      'database_errors_total{class="53"}': 0,
      'database_errors_total{class="23"}': each(600),
      database_timeouts_total: each(600),
    },
  },
  DeliveriesLate: {
    bad: { 'delivery_oldest_due_seconds{instance="a"}': 121, 'delivery_oldest_due_seconds{instance="b"}': null },
    good: { 'delivery_oldest_due_seconds{instance="a"}': 119, 'delivery_oldest_due_seconds{instance="b"}': 0 },
  },
  DeliveryLoopHangs: { bad: { delivery_turn_age_seconds: 61 }, good: { delivery_turn_age_seconds: 3 } },
  LimiterInMemory: { bad: { rate_limiter_store: 0 }, good: { rate_limiter_store: [0, 1] } },
  EventLoopBlocked: { bad: { nodejs_eventloop_lag_p99_seconds: 1.2 }, good: { nodejs_eventloop_lag_p99_seconds: 1.1 } },
  DeadRows: { bad: { storage_usage_dead_rows: 10_001 }, good: { storage_usage_dead_rows: 9_000 } },
  OldSnapshot: { bad: { database_oldest_snapshot_seconds: 601 }, good: { database_oldest_snapshot_seconds: 30 } },
  HousekeepingStopped: {
    bad: { 'housekeeping_last_success_seconds{task="events"}': -10_800 },
    good: {
      'housekeeping_last_success_seconds{task="events",instance="a"}': -10_800,
      'housekeeping_last_success_seconds{task="events",instance="b"}': 60,
    },
  },
  MailsFail: {
    bad: { [mails('failed')]: each(1), [mails('sent')]: 0, [mails('refused')]: 0 },
    good: { [mails('failed')]: each(1), [mails('sent')]: each(2), [mails('refused')]: each(60) },
  },
  ClockWrong: { bad: { clock_ahead_seconds: -3 }, good: { clock_ahead_seconds: 1 } },
  IssuerKeysOld: { bad: { issuer_keys_age_seconds: 3_601 }, good: { issuer_keys_age_seconds: 300 } },
}

const MINUTES = 25
/** A mean of five minutes has no less by then. */
const LONG_S = 600
/** Samples come this long after the rules are evaluated, as at most servers: then a minute has one sample of each minute. */
const STEP = 5

/** One value for each step, `_` where nothing is read. */
function formatValues(samples: Samples, interval: number): string {
  const at = (read: number) => {
    if (samples === null) return '_'
    if (Array.isArray(samples)) return samples[read % samples.length]
    return typeof samples === 'number' ? samples : (samples.perMinute * interval * read) / 60
  }
  const stride = interval / STEP
  const steps = Array.from({ length: (MINUTES * 60) / STEP }, (_, step) => step)
  return steps.map((step) => (step % stride === 1 ? at((step - 1) / stride) : '_')).join(' ')
}

/** Whether the alert fires at one of these times when series and rules are read at this interval; all in seconds. */
function fires(alert: string, series: Series, interval: number, times: readonly number[]): boolean {
  const file = join(temporaryDirectory(), 'test.yaml')
  const values = (samples: Samples) => formatValues(samples, interval)
  const input_series = Object.entries(series).map(([name, samples]) => ({ series: name, values: values(samples) }))
  const alert_rule_test = times.map((time) => ({ eval_time: `${time}s`, alertname: alert, exp_alerts: [] }))
  const test = {
    rule_files: [rules],
    evaluation_interval: `${interval}s`,
    tests: [{ interval: `${STEP}s`, input_series, alert_rule_test }],
  }
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(test))
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' })
  const said = stdout + stderr
  if (status !== 0 && !said.includes('got:')) throw new Error(said)
  return status !== 0
}

function temporaryDirectory() {
  const directory = mkdtempSync(join(tmpdir(), 'member-apps-alerts-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return directory
}

const pending = new Map(alertRules().map(({ alert, forSeconds }) => [alert, forSeconds]))

describe.skipIf(!hasPromtool)(`the alert rules${skipReason}`, () => {
  it('are valid', () => {
    expect(execFileSync('promtool', ['check', 'rules', rules], { encoding: 'utf8' })).toContain(
      `SUCCESS: ${Object.keys(cases).length} rules found`,
    )
  })

  it('are valid with the configuration that docs/monitoring.md prints', () => {
    const directory = temporaryDirectory()
    copyFileSync(rules, join(directory, 'alerts.yaml'))
    writeFileSync(join(directory, 'prometheus.yml'), printedConfiguration())
    const said = execFileSync('promtool', ['check', 'config', join(directory, 'prometheus.yml')], { encoding: 'utf8' })
    expect(said).toContain(`SUCCESS: ${Object.keys(cases).length} rules found`)
  })

  describe.each([15, 60])('at an interval of %i s', (interval) => {
    it.each(Object.entries(cases))(
      '%s fires three intervals after its delay, and only at its fault',
      (alert, { bad, good }) => {
        expect(fires(alert, bad, interval, [pending.get(alert)! + 3 * interval])).toBe(true)
        const times = Array.from({ length: MINUTES }, (_, minute) => 60 * (minute + 1))
        expect(fires(alert, good, interval, times)).toBe(false)
      },
    )

    it('PoolExhausted fires at a mean of six, in the end', () => {
      expect(fires('PoolExhausted', { database_wait_seconds_sum: each(6 * 60) }, interval, [LONG_S])).toBe(true)
    })
  })
})
