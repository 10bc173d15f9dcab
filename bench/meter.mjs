// Preloaded into a measured process: reports its CPU time, its memory and what it allocates, when asked.
import { GCProfiler, getHeapStatistics } from 'node:v8'

const heapNow = () => getHeapStatistics().used_heap_size

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
      before: beforeGC.heapStatistics.usedHeapSize,
      after: afterGC.heapStatistics.usedHeapSize,
    }))
    return { first, collections, last }
  },
}

process.on('message', (message) => {
  if (Object.hasOwn(answers, message)) process.send(answers[message]())
})
process.channel.unref()
// With the bench, however that ends.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
