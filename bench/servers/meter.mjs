// Preloaded into a measured process: reports its CPU time in µs, its memory and what it allocates, when asked.
import { GCProfiler, getHeapStatistics } from 'node:v8'

const heapNow = () => getHeapStatistics().used_heap_size
let profiler
let first

const answers = {
  cpu() {
    const { user, system } = process.cpuUsage()
    return user + system
  },
  rss: () => process.memoryUsage.rss(),
  // From here on V8 notes the size of the heap before and after each collection.
  allocating() {
    profiler = new GCProfiler()
    profiler.start()
    first = heapNow()
    return true
  },
  // The growth from each collection to the next, in bytes: nothing but a collection makes the heap smaller. The memory of
  // buffers is outside of the heap, and does not count.
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
// With the bench, however that ends.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
