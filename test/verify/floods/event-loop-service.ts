/** The whole service in a process of its own, which reports how long its event loop was blocked. Started by a test. */
import { readFileSync } from 'node:fs'
import { readConfig } from '../../../server/process/config.ts'
import { createLog } from '../../../server/process/log.ts'
import { startService } from '../../../server/process/start.ts'

const config = readConfig({ PORT: '0', INTERNAL_PORT: '0', LOG_LEVEL: 'silent', ...JSON.parse(process.argv[2]!) })
const service = await startService(config, createLog(config.logLevel))

/** On Linux the CPU time of this thread, so that other processes on the machine do not count. */
function workedMs(): number {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[0]) / 1e6
  } catch {
    return performance.now()
  }
}

let longest = 0
let before = workedMs()
setInterval(() => {
  const now = workedMs()
  longest = Math.max(longest, now - before)
  before = now
}, 1)

// Replies to each message with the longest turn of the loop since the last one.
process.on('message', () => {
  process.send!(longest)
  longest = 0
})
process.once('disconnect', () => service.close().then(() => process.exit(0)))
process.send!({ publicPort: service.publicPort, internalPort: service.internalPort })
