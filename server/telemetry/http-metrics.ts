import type { Registry } from 'prom-client'
import { Histogram } from 'prom-client'
import { addGauge } from './gauge.ts'

/** Seconds. 6 s is the longest that a request may take; the alert on the slowest uses 0.25. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 6]

export interface HttpMetrics {
  began: () => void
  /** `operation` is one of a fixed set of names, never a path. */
  ended: (operation: string, status: number, seconds: number) => void
}

export function httpMetrics(registry: Registry): HttpMetrics {
  let inFlight = 0
  addGauge(registry, 'http_requests_in_flight', 'Requests that are being answered.', () => inFlight)
  const duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'How long requests took, until their response was handed to the socket.',
    labelNames: ['operation', 'status'],
    buckets: BUCKETS,
    registers: [registry],
  })
  return {
    began() {
      inFlight++
    },
    ended(operation, status, seconds) {
      inFlight--
      duration.observe({ operation, status }, seconds)
    },
  }
}
