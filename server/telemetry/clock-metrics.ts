import type { Registry } from 'prom-client'
import { addGauge } from './gauge.ts'

/** Seconds; negative when the clock is behind. */
export const addClockGauge = (registry: Registry, ahead: () => number) =>
  addGauge(registry, 'clock_ahead_seconds', "How far this machine's clock is ahead of the database's.", ahead)
