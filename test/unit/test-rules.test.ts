import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { slowest, waiting } from '../support/file-order.ts'

const root = join(import.meta.dirname, '../..')
const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' }).filter(
  (path) => path.endsWith('.ts') && path !== 'unit/test-rules.test.ts',
)

interface Rule {
  rule: string
  pattern: RegExp
  /** A file's reason. */
  allowed: Record<string, string>
  /** What `npm run verify` runs may measure, wait and leave to chance. */
  alsoInVerify?: boolean
}

/** The rules of CONTRIBUTING.md, "Rules for tests", that can be read off the text. */
const rules: Rule[] = [
  {
    rule: 'measures no time and no memory',
    pattern: /performance\.now\(|process\.(?:cpuUsage|hrtime|memoryUsage|resourceUsage)\(|VmRSS|VmHWM/,
    allowed: {
      'pages/language.test.ts': 'a pattern that backtracks takes minutes, the bound is 13 times the usual CPU time',
      'process/end.test.ts': 'a lower bound',
      'process/service.ts': 'the time-out of `until`',
      'process/start.test.ts': 'an annotation, not an assertion',
      'unit/limits.test.ts': 'a lower bound',
      'webhooks/worker-world.ts': 'the clock that tests advance',
    },
  },
  {
    rule: 'waits for a fact, not for a time',
    pattern: /\b(?:await|return|void) (?:pause|sleep|delay)\(|setTimeout\((?:resolve|end|release|done)\b|pg_sleep\(/,
    allowed: {
      'commands/import-faults.test.ts': 'a statement that is found running',
      'conformance/deadline.test.ts': 'longer than a limit that must not count',
      'housekeeping/turns.test.ts': 'portions that overlap: it can only miss',
      'process/embedded/server.test.ts': 'another moment of a stop in each round: all are right',
      'process/service.ts': 'the interval of `until`',
      'raw/memory.test.ts': 'nothing more may come: it can only miss',
    },
  },
  {
    rule: 'has no time-out of its own',
    pattern:
      /\b(?:timeout|testTimeout|hookTimeout): ?[\d_]+|^\s*\}, ?[\d_]{4,}\)$|^ {4}(?:times\([\d_, ]+\)|[\d_]{4,}),$|\bvi\.wait/,
    allowed: {
      'unit/sdk-platform.test.ts': 'of a round of 2 ms: a hang names its seed',
      'verify/figures/bare-server.ts': 'an interval',
      'verify/floods/stalled-bodies.test.ts': 'a number of bytes',
      'verify/year/delivered.ts': 'a worker waits for a minute after a jump of the clock',
    },
    alsoInVerify: true,
  },
  {
    rule: 'writes no rows of other tenants',
    pattern:
      /(?:delete|update)Many\(\)|(?:delete|update)Many\(\{ (?:data|where: \{ model)|deleteExpired\w*\([\w.]*world\.db/,
    allowed: {
      'directory/merge.test.ts': 'a database of its own',
      'oauth/refresh-reuse.test.ts': 'a database of its own',
      'oauth/signing-keys.test.ts': 'a database of its own',
      'webhooks/queue-world.ts': 'a database of its own',
    },
  },
  {
    rule: 'listens on a port that the system chooses',
    pattern: /\.listen\((?!0\b)\d+/,
    allowed: {},
  },
  {
    rule: 'hears notifications, which PgBouncer does not pass on, on a direct connection',
    pattern: /openPostgresWakes\([\w.]+, (?!direct\()/,
    allowed: { 'prisma/notifications.test.ts': 'its addresses are direct' },
  },
]

describe.each(rules)('a test $rule', ({ pattern, allowed, alsoInVerify = false }) => {
  const found = files
    .filter((path) => alsoInVerify || !path.startsWith('verify/'))
    .flatMap((path) =>
      readFileSync(join(root, 'test', path), 'utf8')
        .split('\n')
        .flatMap((line, i) => (pattern.test(line) ? [{ path, place: `${path}:${i + 1}: ${line.trim()}` }] : [])),
    )

  it('but where a reason is given here', () => {
    expect(found.filter(({ path }) => !(path in allowed)).map(({ place }) => place)).toEqual([])
  })

  it('and each reason is still needed', () => {
    expect(Object.keys(allowed).filter((path) => !found.some((one) => one.path === path))).toEqual([])
  })
})

it.each([...slowest, ...waiting])('%s, which has a place in the order, is a test file', (name) => {
  expect(existsSync(new URL(`../${name}.test.ts`, import.meta.url))).toBe(true)
})
