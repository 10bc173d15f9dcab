import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { dataDirectory, freePort, refuses, until } from '../../process/service.ts'
import { endProgram, expectRunning, startProgram } from './program.ts'

const page = fileURLToPath(new URL('../../../docs/production.md', import.meta.url))
/** Lines of nginx's configuration: what it stores for a while goes below `temp`. */
export const temporaryPaths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  .map((kind) => `${kind}_temp_path temp/${kind};`)
  .join('\n')

/** nginx as docs/production.md has it, but without TLS, in front of a node at this port; it ends with the test. */
export async function startNginx(nodePort: number) {
  const [, documented] = /^```nginx\n(.*?)^```$/ms.exec(await readFile(page, 'utf8'))!
  const [port, redirecting] = [await freePort(), await freePort()]
  const server = documented!
    .replace('listen 80;', `listen 127.0.0.1:${redirecting};`)
    .replace('listen 443 ssl http2;', `listen 127.0.0.1:${port};`)
    .replace(/^ *ssl_.*\n/gm, '')
    .replaceAll('http://127.0.0.1:3000', `http://127.0.0.1:${nodePort}`)
    .replaceAll('/var/log/nginx/access.log', 'access.log')
  const directory = await dataDirectory()
  await mkdir(join(directory, 'temp'))
  const http = `${temporaryPaths}\n${server}`
  await writeFile(join(directory, 'nginx.conf'), `pid nginx.pid;\nerror_log stderr;\nevents {}\nhttp {\n${http}}\n`)
  const program = startProgram(['nginx', '-p', directory, '-c', 'nginx.conf', '-g', 'daemon off;'], { cwd: directory })
  onTestFinished(async () => void (await endProgram(program)))
  await until(
    async () => {
      expectRunning(program)
      return refuses(port)
    },
    (refused) => !refused,
  )
  return { port, log: () => readFile(join(directory, 'access.log'), 'utf8'), errors: program.output }
}
