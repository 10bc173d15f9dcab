import type { Registry } from 'prom-client'
import { addGauge } from './gauge.ts'

/** Seconds; what is behind is negative. */
export const addClockGauge = (registry: Registry, ahead: () => number) =>
  addGauge(registry, 'clock_ahead_seconds', "How far this machine's clock is ahead of the database's.", ahead)
