import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { alertRules, printedConfiguration, secondsOf } from '../support/alert-rules.ts'

const { global: printed, rule_files, scrape_configs } = parse(printedConfiguration())
const chart = parse(readFileSync(join(import.meta.dirname, '../../deploy/helm/member-apps-api/values.yaml'), 'utf8'))
/** That of Prometheus without a setting. */
const DEFAULT = 60

describe('the printed configuration of Prometheus', () => {
  it('reads the metrics and the rules every 15 s', () => {
    expect(printed).toEqual({ scrape_interval: '15s', evaluation_interval: '15s' })
    expect(rule_files).toEqual(['alerts.yaml'])
  })

  it('has the job that the rules name', () => {
    const named = alertRules().flatMap(({ expr }) => [...expr.matchAll(/\bjob="([^"]*)"/g)].map(([, job]) => job))
    expect(named.length).toBeGreaterThan(0)
    const jobs = scrape_configs.map(({ job_name }: { job_name: string }) => job_name)
    expect(named.filter((job) => !jobs.includes(job))).toEqual([])
  })
})

describe.each([
  ['docs/monitoring.md', secondsOf(printed?.scrape_interval ?? '1m')],
  ['the Helm chart', secondsOf(chart.serviceMonitor.interval)],
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
