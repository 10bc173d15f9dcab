import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'

const rules = join(import.meta.dirname, '../../../deploy/prometheus/alerts.yaml')
const hasPromtool = spawnSync('promtool', ['--version']).status === 0
const skipReason = hasPromtool ? '' : ' (skipped: there is no promtool)'

/** What one instance serves each minute, when it fires and when it does not; `+N` is the growth of a counter each minute. */
const cases: Record<string, { bad: Record<string, string>; good: Record<string, string> }> = {
  ProcessAway: { bad: { 'up{job="member-apps"}': '0x30' }, good: { 'up{job="member-apps"}': '1x30' } },
  ServerErrors: {
    bad: { [requests('storage.get', 503)]: '0+2x30', [requests('storage.get', 200)]: '0+98x30' },
    good: {
      [requests('storage.get', 503)]: '0+1x30',
      [requests('storage.get', 200)]: '0+299x30',
      [requests('health', 503)]: '0+90x30',
    },
  },
  SlowReads: {
    bad: { [bucket('0.25')]: '0+98x30', [bucket('0.5')]: '0+100x30', [bucket('+Inf')]: '0+100x30' },
    good: { [bucket('0.25')]: '0+100x30', [bucket('0.5')]: '0+100x30', [bucket('+Inf')]: '0+100x30' },
  },
  PoolExhausted: {
    bad: { database_pool_waiting: '6x30' },
    good: { database_pool_waiting: '6 0 6 0 6 0 6 0 6 0 6 0x20' },
  },
  DatabaseUnreachable: {
    bad: { database_connection_failures_total: '0+60x30', 'database_errors_total{class="53"}': '0x30' },
    good: {
      database_connection_failures_total: '0x30',
      'database_errors_total{class="53"}': '0x30',
      'database_errors_total{class="23"}': '0+600x30',
      database_timeouts_total: '0+600x30',
    },
  },
  DeliveriesLate: {
    bad: {
      'delivery_oldest_due_seconds{instance="a"}': '121x30',
      'delivery_oldest_due_seconds{instance="b"}': '_x30',
    },
    good: {
      'delivery_oldest_due_seconds{instance="a"}': '119x30',
      'delivery_oldest_due_seconds{instance="b"}': '0x30',
    },
  },
  DeliveryLoopHangs: { bad: { delivery_turn_age_seconds: '61x30' }, good: { delivery_turn_age_seconds: '3x30' } },
  LimiterInMemory: { bad: { rate_limiter_store: '1 1 0x28' }, good: { rate_limiter_store: '1x30' } },
  EventLoopBlocked: {
    bad: { nodejs_eventloop_lag_p99_seconds: '0.2x30' },
    good: { nodejs_eventloop_lag_p99_seconds: '0.02x30' },
  },
  DeadRows: { bad: { storage_usage_dead_rows: '10001x30' }, good: { storage_usage_dead_rows: '9000x30' } },
  OldSnapshot: {
    bad: { database_oldest_snapshot_seconds: '601x30' },
    good: { database_oldest_snapshot_seconds: '30x30' },
  },
  HousekeepingStopped: {
    bad: { 'housekeeping_last_success_seconds{task="events"}': '-10000x30' },
    good: {
      'housekeeping_last_success_seconds{task="events",instance="a"}': '-10000x30',
      'housekeeping_last_success_seconds{task="events",instance="b"}': '60x30',
    },
  },
  ClockWrong: { bad: { clock_ahead_seconds: '-3x30' }, good: { clock_ahead_seconds: '1x30' } },
  IssuerKeysOld: { bad: { issuer_keys_age_seconds: '3601x30' }, good: { issuer_keys_age_seconds: '300x30' } },
}

function requests(operation: string, status: number) {
  return `http_request_duration_seconds_count{operation="${operation}",status="${status}"}`
}

function bucket(le: string) {
  return `http_request_duration_seconds_bucket{operation="storage.get",status="200",le="${le}"}`
}

/** The alerts that fire after 25 minutes of these series, as promtool reckons. */
function firing(series: Record<string, string>, alert: string): boolean {
  const directory = mkdtempSync(join(tmpdir(), 'member-apps-alerts-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'test.yaml')
  const test = {
    rule_files: [rules],
    evaluation_interval: '1m',
    tests: [
      {
        interval: '1m',
        input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
        alert_rule_test: [{ eval_time: '25m', alertname: alert, exp_alerts: [] }],
      },
    ],
  }
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(test))
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' })
  const said = stdout + stderr
  if (status !== 0 && !said.includes('got:')) throw new Error(said)
  return status !== 0
}

describe.skipIf(!hasPromtool)(`the alert rules${skipReason}`, () => {
  it('are valid', () => {
    expect(execFileSync('promtool', ['check', 'rules', rules], { encoding: 'utf8' })).toContain(
      `SUCCESS: ${Object.keys(cases).length} rules found`,
    )
  })

  it.each(Object.entries(cases))('fire when they should, and only then: %s', (alert, { bad, good }) => {
    expect(firing(bad, alert)).toBe(true)
    expect(firing(good, alert)).toBe(false)
  })
})
