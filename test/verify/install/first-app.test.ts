import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { commandEntry, dataDirectoryWithCluster, freePort, start } from '../../process/service.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
/** From a checkout; test/process/first-call.test.ts has the way from outside. */
const page = readFileSync(`${root}docs/first-app.md`, 'utf8').replace(/^.*\n(?=## 1\. )/s, '')

/** The blocks of the page: a command, and what it prints. */
const blocks = [...page.matchAll(/```sh( in a terminal of its own)?\n(.*?)```(?:\n\n```text\n(.*?)```)?/gs)].map(
  ([, own, command, printed]) => ({ own: own !== undefined, command: command!, printed: printed ?? '' }),
)

const MARK = 'next-command'
/** Shorter than npm, which starts the same program. */
const NPM = `npm() { shift 2; local name="$1"; shift; [ "$1" = -- ] && shift; node "${commandEntry}" "$name" "$@"; }`
/** What begins with it listens once it is there. */
const listens = (port: number) => `until curl -s -o /dev/null http://127.0.0.1:${port}/; do sleep 0.05; done`
const trimmed = (text: string) => text.trim().replace(/^ +/gm, '')
/** The output; `…` stands for what differs each time. */
const printedAs = (text: string) =>
  text.includes('…') ? expect.stringMatching(text.replace(/[.(){}|?*+^$[\]\\]/g, '\\$&').replaceAll('…', '.*')) : text

describe('the first app', () => {
  it('comes about by the commands of docs/first-app.md, which print what stands there', async () => {
    const [DATA_DIR, app, hook] = await Promise.all([dataDirectoryWithCluster(), freePort(), freePort()])
    const service = await start({ DATA_DIR })
    const received = join(DATA_DIR, 'received')
    const placed = (text: string) =>
      text.replaceAll(':3000', `:${service.port}`).replaceAll('4321', `${app}`).replaceAll('4000', `${hook}`)
    const script = blocks.slice(1, -1).flatMap(({ own, command }) => {
      const port = command.includes('third-party/main.js') ? app : hook
      return own ? [`${placed(command).trim()} >> "$RECEIVED" &`, listens(port)] : [placed(command), `echo ${MARK}`]
    })
    const program = spawn('bash', ['-c', [NPM, "trap 'kill $(jobs -p)' EXIT", ...script].join('\n')], {
      cwd: root,
      env: { PATH: process.env.PATH, HOME: DATA_DIR, DATA_DIR, RECEIVED: received },
    })
    onTestFinished(() => void program.kill())
    let said = ''
    for (const stream of [program.stdout, program.stderr]) stream.on('data', (chunk) => (said += chunk))
    await new Promise((resolve) => program.once('exit', resolve))
    expect(blocks[0]!.command).toBe('npm ci && npm start\n')
    // own-page.test.ts runs the project.
    expect(blocks.at(-1)!.command).toBe('cd ~/my-app && npm install && npm run dev\n')
    expect(readFileSync(join(DATA_DIR, 'my-app/.env'), 'utf8')).toContain('VITE_CLIENT_ID=my-page\n')
    const expected = blocks.filter(({ own }) => !own).map(({ printed }) => printedAs(trimmed(placed(printed))))
    expect(said.split(`${MARK}\n`).slice(0, -1).map(trimmed)).toEqual(expected)
    expect(readFileSync(received, 'utf8')).toMatch(
      /^\{"id":"[^"]+","type":"training.moved",.*"data":\{"to":"19:30"\}\}\n$/,
    )
    await service.stop()
  })
})
