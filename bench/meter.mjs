// Preloaded into a measured process: reports its CPU time, its memory and what it allocates, when asked.
import { GCProfiler, getHeapStatistics } from 'node:v8'

const heapNow = () => {
  const { used_heap_size: usedHeapSize, external_memory: externalMemory } = getHeapStatistics()
  return { usedHeapSize, externalMemory }
}

let profiler
let first

/** What the process needs to be asked for. */
const answers = {
  cpu: () => process.cpuUsage(),
  rss: () => process.memoryUsage.rss(),
  // From here on V8 notes the size of the heap before and after each collection.
  allocating() {
    profiler = new GCProfiler()
    profiler.start()
    first = heapNow()
    return true
  },
  allocated() {
    const last = heapNow()
    const { statistics } = profiler.stop()
    const collections = statistics.map(({ beforeGC, afterGC }) => ({
      before: beforeGC.heapStatistics,
      after: afterGC.heapStatistics,
    }))
    return { first, collections, last }
  },
}

process.on('message', (message) => {
  if (Object.hasOwn(answers, message)) process.send(answers[message]())
})
process.channel.unref()
