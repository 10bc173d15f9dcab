import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

/** Per cent of the last 10 s in which something waited for a processor. */
const QUIET = 5
const STEP_MS = 5_000
const LIMIT_MS = 60_000

/** `avg10` of /proc/pressure/cpu; undefined where the kernel does not tell. */
export async function cpuPressure(): Promise<number | undefined> {
  const text = await readFile('/proc/pressure/cpu', 'utf8').catch(() => '')
  const [, per] = /^some avg10=([\d.]+)/m.exec(text) ?? []
  return per === undefined ? undefined : Number(per)
}

/**
 * Whether the machine is quiet, or becomes so within a minute: what just ran, be it our own, is still in the average for
 * some 20 s.
 */
export async function isQuiet(pressure = cpuPressure, pause: (ms: number) => Promise<unknown> = sleep) {
  for (let waited = 0; ; waited += STEP_MS) {
    const now = await pressure()
    if (now === undefined) return false
    if (now < QUIET) return true
    if (waited >= LIMIT_MS) return false
    await pause(STEP_MS)
  }
}
