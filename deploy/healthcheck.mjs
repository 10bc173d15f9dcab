// The image's HEALTHCHECK: asks the internal port for /healthz, or for the given path. Exits with 0 when the answer is 200. Reads
// the environment itself: with server/process/config.ts each check took three times the CPU.
import { get } from 'node:http'

const path = process.argv[2] ?? '/healthz'
const { INTERNAL_PORT, INTERNAL_HOST } = process.env
const every = { '::': '::1', '0.0.0.0': '127.0.0.1' }
const host = every[INTERNAL_HOST] ?? (INTERNAL_HOST || '127.0.0.1')
const fail = (reason) => {
  process.stderr.write(`${path}: ${reason}\n`)
  process.exit(1)
}
get({ host, port: INTERNAL_PORT || 3001, path, timeout: 2_500 }, ({ statusCode }) =>
  statusCode === 200 ? process.exit(0) : fail(statusCode),
)
  .on('timeout', () => fail('no answer in 2.5 s'))
  .on('error', ({ code, message }) => fail(message || code))
