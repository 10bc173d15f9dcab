import { createBench } from './database.ts'
import { median } from './figures.ts'
import type { Metered } from './process.ts'
import type { Queue, Receiver } from './webhooks.ts'
import { atFullRate, atRate, openQueue, pause, startReceiver } from './webhooks.ts'

const LIVE = ['live-0', 'live-1', 'live-2', 'live-3']
const DEAD = 1_000
const RATE = 500

export interface Options {
  seconds: number
  prof: string | undefined
  say: (text: string) => void
}

/** Deliveries per second of one worker to a receiver on TLS, and their delay at 500 a second. */
export async function benchDeliveries({ seconds, prof, say }: Options) {
  const bench = await createBench()
  const receiver = await startReceiver()
  const queue = await openQueue(bench)
  try {
    for (const id of LIVE) await queue.subscribe(id, receiver.url(`/${id}`))
    const worker = queue.startWorker(prof ? ['--cpu-prof', `--cpu-prof-dir=${prof}`] : [])
    try {
      await warmUp(queue, receiver)
      say(`${seconds} s each; the worker, the receiver and PostgreSQL share this machine.`)
      say('                      deliveries/s   p50 ms   p99 ms   worker µs   receiver µs')
      const steady = await metered([worker, receiver], () => atRate(queue, receiver, LIVE, RATE, seconds * 1_000))
      const { rate, p50, p99 } = steady.result
      say(row(`${RATE} a second`, rate, [p50, p99], steady.cpu) + (rate < RATE * 0.99 ? '   MISSED' : ''))
      const full = await metered([worker, receiver], () => atFullRate(queue, receiver, LIVE, seconds * 1_000))
      say(row('as many as it can', full.result, [], full.cpu))
    } finally {
      await worker.stop()
    }
  } finally {
    await queue.close()
    await receiver.stop()
    await bench.remove()
  }
}

/** The same for live subscriptions alone and beside 1,000 whose receivers never respond, in turns. */
export async function benchDead({ seconds, prof, say }: Options, rounds = 3) {
  const bench = await createBench()
  const [live, dead] = [await startReceiver(), await startReceiver()]
  const queue = await openQueue(bench)
  try {
    const silent = Array.from({ length: DEAD }, (_, i) => `dead-${i}`)
    for (const id of LIVE) await queue.subscribe(id, live.url(`/${id}`))
    for (const id of silent) await queue.subscribe(id, dead.url(`/${id}`))
    say(`${seconds} s each; rate of the live receivers, and their delay at ${RATE} a second.`)
    say('silent receivers deliveries/s   worker µs   p50 ms   p99 ms   worker µs')
    const rates: Record<string, number[]> = { 0: [], [DEAD]: [] }
    for (let round = 0; round < rounds * 2; round++) {
      const number = round % 2 === 0 ? 0 : DEAD
      const worker = queue.startWorker(prof ? ['--cpu-prof', `--cpu-prof-dir=${prof}/${number}`] : [])
      try {
        await warmUp(queue, live)
        await dead.heard()
        if (number > 0) await queue.publish(silent, DEAD * 5)
        // Measure once every silent receiver has got a request.
        for (let count = 0; count < number; count += (await dead.heard()).count) await pause(100)
        const full = await metered([worker], () => atFullRate(queue, live, LIVE, seconds * 1_000))
        await drained(queue)
        const steady = await metered([worker], () => atRate(queue, live, LIVE, RATE, seconds * 1_000))
        rates[number]!.push(full.result)
        const { p50, p99 } = steady.result
        const cells = [figure(full.result, 15), figure(full.cpu[0]! / full.result, 12), figure(p50, 9), figure(p99, 9)]
        say(`${String(number).padStart(16)}${cells.join('')}${figure(steady.cpu[0]! / steady.result.rate, 12)}`)
      } finally {
        await worker.stop()
        await queue.clear()
      }
    }
    const ratio = median(rates[DEAD]!) / median(rates[0]!)
    say(`ratio of the medians: ${ratio.toFixed(2)}${ratio > 0.9 ? '' : ' MISSED'}`)
  } finally {
    await queue.close()
    await Promise.all([live.stop(), dead.stop()])
    await bench.remove()
  }
}

/** Compiles code, opens connections and makes the subscriptions healthy before anything is measured. */
async function warmUp(queue: Queue, receiver: Receiver) {
  await atFullRate(queue, receiver, LIVE, 3_000)
  await drained(queue)
}

async function drained(queue: Queue) {
  while ((await queue.pending(LIVE)) > 0) await pause(100)
}

/** Runs `work`; returns its result and the CPU time of the processes per second, in µs. */
async function metered<T>(processes: Pick<Metered, 'cpu'>[], work: () => Promise<T>) {
  const all = () => Promise.all(processes.map(({ cpu }) => cpu()))
  const before = await all()
  const start = performance.now()
  const result = await work()
  const seconds = (performance.now() - start) / 1_000
  return { result, cpu: (await all()).map((us, i) => (us - before[i]!) / seconds) }
}

const row = (name: string, rate: number, delays: number[], cpu: number[]) =>
  [
    name.padEnd(21),
    figure(rate, 13),
    ...['p50', 'p99'].map((_, i) => (delays[i] === undefined ? ' '.repeat(9) : figure(delays[i], 9))),
    figure(cpu[0]! / rate, 12),
    figure(cpu[1]! / rate, 14),
  ].join('')

const figure = (number: number, width: number) => number.toFixed(0).padStart(width)
