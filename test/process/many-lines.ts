import { createLog } from '../../server/process/log.ts'

// More at once than may wait.
const log = createLog('info')
for (let mebibyte = 0; mebibyte < 40; mebibyte++) log.info({ mebibyte, text: 'x'.repeat(1_048_576) })
log.flush(() => process.exit())
