// Preloaded into a measured process: reports its CPU time in µs, its memory, its allocations and its stops on request.

import { GCProfiler, getHeapStatistics } from 'node:v8'
import { endStops, watchStops } from './stops.mjs'

const heapNow = () => getHeapStatistics().used_heap_size
let profiler
let first

const answers = {
  cpu() {
    const { user, system } = process.cpuUsage()
    return user + system
  },
  watch: watchStops,
  stops: endStops,
  rss: () => process.memoryUsage.rss(),
  // From here on V8 records the size of the heap before and after each collection.
  allocating() {
    profiler = new GCProfiler()
    profiler.start()
    first = heapNow()
    return true
  },
  // The growth from each collection to the next, in bytes: only a collection makes the heap smaller. Buffers are outside the
  // heap, and do not count.
  allocated() {
    let sum = heapNow()
    let from = first
    for (const { beforeGC, afterGC } of profiler.stop().statistics) {
      sum += Math.max(0, beforeGC.heapStatistics.usedHeapSize - from)
      from = afterGC.heapStatistics.usedHeapSize
    }
    return sum - from
  },
}

process.on('message', (message) => {
  if (Object.hasOwn(answers, message)) process.send(answers[message]())
})
process.channel.unref()
// Ends with the bench, however that ends.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
