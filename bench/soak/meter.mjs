// Preloaded into the measured processes: says on request what they hold, after a full collection of garbage.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')
let warnings = 0
// Of too many listeners, among others.
process.on('warning', () => warnings++)
process.on('message', (question) => {
  if (question !== 'figures') return
  collect()
  const { rss, heapUsed, external } = process.memoryUsage()
  const listeners = process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0)
  const handles = {}
  for (const type of process.getActiveResourcesInfo()) handles[type] = (handles[type] ?? 0) + 1
  process.send({ rss, heap: heapUsed + external, handles, listeners, warnings })
})
process.channel?.unref()
