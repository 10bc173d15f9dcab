import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

export const page = readFileSync(join(import.meta.dirname, '../../docs/webhooks.md'), 'utf8')

const snippet = (language: string) => new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'ms').exec(page)![1]!

export interface Delivery {
  body: string
  headers: Record<string, string>
  secret: string
  tolerance: number
}

/** The `type` of each event, or the message of what was thrown. */
type Verify = (deliveries: readonly Delivery[]) => Promise<string[]>

const python = `
import sys
def outcome(one):
    try:
        return verify(one["body"].encode(), one["headers"], one["secret"], one["tolerance"])["type"]
    except Exception as error:
        return str(error)
print(json.dumps([outcome(one) for one in json.load(sys.stdin)]))`

const php = `
echo json_encode(array_map(function ($one) {
    try {
        return verify($one['body'], $one['headers'], $one['secret'], $one['tolerance'])['type'];
    } catch (Throwable $error) {
        return $error->getMessage();
    }
}, json_decode(file_get_contents('php://stdin'), true)));`

/** Runs the snippet in its interpreter, which gets the deliveries as JSON. */
const runIn =
  (program: string, code: string): Verify =>
  async (deliveries) => {
    const flag = program === 'php' ? '-r' : '-c'
    const { stdout, stderr } = spawnSync(program, [flag, code], { input: JSON.stringify(deliveries), encoding: 'utf8' })
    if (stdout === '') throw new Error(stderr)
    return JSON.parse(stdout)
  }

const here: Verify = async (deliveries) => {
  const directory = await mkdtemp(join(tmpdir(), 'verify-'))
  const file = join(directory, 'verify.mjs')
  await writeFile(file, snippet('js'))
  const { verify } = await import(/* @vite-ignore */ pathToFileURL(file).href)
  await rm(directory, { recursive: true })
  return deliveries.map(({ body, headers, secret, tolerance }) => {
    try {
      return verify(Buffer.from(body), headers, secret, tolerance).type
    } catch (error) {
      return (error as Error).message
    }
  })
}

const isThere = (program: string) => spawnSync(program, ['--version']).status === 0

export const languages = [
  { language: 'Node', verify: here, missing: false },
  { language: 'Python', verify: runIn('python3', snippet('python') + python), missing: !isThere('python3') },
  { language: 'PHP', verify: runIn('php', snippet('php') + php), missing: !isThere('php') },
]
