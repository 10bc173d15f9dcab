// Preloaded into the measured processes: says on request what they hold, after a full collection of garbage.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')
let warnings = 0
// Too many listeners are one of them.
process.on('warning', () => warnings++)
process.on('message', (question) => {
  if (question !== 'figures') return
  collect()
  const listeners = process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0)
  const handles = process.getActiveResourcesInfo().length
  const { rss, heapUsed: heap } = process.memoryUsage()
  process.send({ rss, heap, handles, listeners, warnings })
})
process.channel?.unref()
