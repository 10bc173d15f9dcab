// Records when a process could not work: garbage collections, and long turns of the event loop. In ms of the epoch.
import { openSync, readSync } from 'node:fs'
import { PerformanceObserver } from 'node:perf_hooks'

const BEAT_MS = 5
/** Timers are late by up to 1 ms anyway. */
const LEAST_MS = 2

const toSpan = (from, to) => ({ from: performance.timeOrigin + from, to: performance.timeOrigin + to })

let garbage
let turns
let beat
const observer = new PerformanceObserver((list) => {
  for (const { startTime, duration } of list.getEntries()) garbage.push(toSpan(startTime, startTime + duration))
})

export function watchStops() {
  garbage = []
  turns = []
  observer.observe({ entryTypes: ['gc'] })
  let last = performance.now()
  let waited = waitForCore()
  beat = setInterval(() => {
    const [now, waitedNow] = [performance.now(), waitForCore()]
    // Since the timer was due.
    const late = now - last - BEAT_MS
    if (late >= LEAST_MS) turns.push({ ...toSpan(now - late, now), taken: Math.min(late, waitedNow - waited) })
    last = now
    waited = waitedNow
  }, BEAT_MS).unref()
  return true
}

export function endStops() {
  clearInterval(beat)
  observer.disconnect()
  return { garbage, turns }
}

const schedule = openSchedule()
const text = Buffer.alloc(64)

/** How long the main thread has waited for a core while it could have run, in ms. 0 where the system does not say. */
function waitForCore() {
  if (schedule === undefined) return 0
  const bytes = readSync(schedule, text, 0, text.length, 0)
  return Number(text.toString('latin1', 0, bytes).split(' ')[1]) / 1e6
}

function openSchedule() {
  try {
    return openSync('/proc/self/schedstat')
  } catch {
    return undefined
  }
}
