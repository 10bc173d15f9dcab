import { readFileSync } from 'node:fs'

/**
 * How a red run is judged. `figures`: only while the machine is quiet. `chance`: again with the same seed. `plain`: at once.
 */
export type Kind = 'figures' | 'chance' | 'plain'

export interface Part {
  name: string
  /** In one sentence. */
  proves: string
  kind: Kind
  /** The longest run; it is ended after that. */
  minutes: number
  /** Programs, which are installed; and what can only be said to be missing: `root`, a setting (`CITUS_URL`). */
  needs: readonly string[]
  /** In bash, one after the other; those after a failure are run as well. */
  commands: readonly string[]
}

const ofKind =
  (kind: Kind) =>
  (name: string, minutes: number, commands: string[], needs: string[] = []) => ({
    name,
    kind,
    minutes,
    needs,
    commands,
  })
const [plain, chance, figures] = [ofKind('plain'), ofKind('chance'), ofKind('figures')]

/**
 * Runs the test files of a folder of test/verify in this number of workers; a skipped test is a fault. Projects of vitest.config.ts
 * ignore `--maxWorkers`.
 */
const runFiles = (folder: string, workers: number) =>
  [
    `VITEST_MAX_WORKERS=${workers} npx vitest run --mode whole --project verify test/verify/${folder}/`,
    '--reporter=default --reporter=json --outputFile.json="$REPORT" && node .ci/skipped.mjs "$REPORT"',
  ].join(' ')
/** One more than cores: part of their time is waiting, and those that hold latencies do so on a busy machine too. */
const tests = (folder: string) => runFiles(folder, 3)
/** A measurement shares the machine with nothing of ours. */
const measurements = (folder: string) => runFiles(folder, 1)

/** Figures of different machines have the same server then, and whole projects its 300 connections. */
const EMBEDDED = 'env -u TEST_DATABASE_URL'
const bench = (what: string) => `${EMBEDDED} npm run -s bench -- ${what}`

const SUITE = `${EMBEDDED} npx vitest run --project unit --project api`
const WHOLE = `${SUITE} --mode whole --reporter=default --reporter=json --outputFile.json="$REPORT"`
/** A root of Debian 13, whose PgBouncer is newer than the machine's. */
const DEBIAN = '.ci/debian13 "$TEST_DEBIAN13" || { echo "could not fetch: Debian 13"; exit 75; }'
const CHROMIUM = ['chromium', 'chromium-headless-shell']
/** Which the examples in docs/webhooks.md are run with. */
const SNIPPETS = ['python3', 'php']
const TOPOLOGY = ['haproxy', 'redis-server']
const OPENID = ['python3-requests-oauthlib', 'python3-authlib', 'oidc-agent', 'apache2', 'libapache2-mod-auth-openidc']

/** The SDK alone runs on it. */
export const BUN = '1.4.5'

const runtimes = readFileSync(new URL('../../.ci/runtimes', import.meta.url), 'utf8')
  .trim()
  .split('\n')
const nodes = runtimes.map((line) => line.split(' ')).filter(([name]) => name === 'node')

const onNode = (version: string): Part => ({
  proves: `The unit, api and process projects hold on Node ${version}.`,
  ...plain(
    `node-${version.split('.')[0]}`,
    60,
    [`.ci/on-node ${version} ${WHOLE} --project process`],
    [...CHROMIUM, ...SNIPPETS],
  ),
})

/** The one list of what `npm run verify` runs, in its order. */
export const parts: readonly Part[] = [
  {
    proves:
      "The OpenAPI documents break no rule of Redocly's or Spectral's, and generators make working clients of them.",
    ...plain('openapi', 20, ['.ci/openapi', tests('openapi')]),
  },
  {
    proves:
      'No operation costs more than its target beside a bare handler, a service starts and rests as lightly as said, and a worker delivers as many webhooks.',
    ...figures('figures', 60, [measurements('figures'), bench('check')]),
  },
  {
    proves:
      'docs/performance.md says what each operation costs beside a bare handler and its peers, and docs/growth.md as data grows.',
    ...figures('performance', 120, [bench('report --rounds 9 --requests 1000')], ['redis-server']),
  },
  {
    proves: 'Large bodies, lists and imports stay below their limits of memory.',
    ...figures('memory', 30, [measurements('memory')]),
  },
  {
    proves: 'A mixed load on two nodes and a worker lets neither memory nor handles grow.',
    ...figures('soak', 10, [measurements('soak')], TOPOLOGY),
  },
  {
    proves: 'A year of one platform lets neither tables, indexes nor memory grow, and changes no plan.',
    ...plain('year', 120, [measurements('year')], ['faketime']),
  },
  {
    proves: 'Slow, hostile and very many clients neither stop the service nor slow its other clients.',
    ...figures('floods', 45, [measurements('floods')]),
  },
  {
    proves: 'With a million rows, statements still use the plans that they were written for.',
    ...figures('rows', 15, [measurements('rows')]),
  },
  {
    proves:
      'Faults of the database under load cost no acknowledged write, and two services on it keep the quota exact.',
    ...chance('database', 20, [tests('database')]),
  },
  {
    proves: 'Nodes with one Redis count as one, and as safely while it is away.',
    ...chance('redis', 10, [tests('redis')], ['redis-server', 'redis-cli']),
  },
  {
    proves:
      'Behind HAProxy no request is lost when a node stops, the service returns after each fault, and no answer is of another form.',
    ...chance('topology', 30, [tests('topology')], [...TOPOLOGY, 'nginx']),
  },
  {
    proves:
      'kill -9 at any moment loses no acknowledged write, no change that a copy follows, no renewal, no message and no record of an import, and counts no repeated write twice.',
    ...chance('kills', 45, [tests('kills')]),
  },
  {
    proves: 'Workers deliver under load and after an outage, and silent receivers hold nobody up.',
    ...chance('webhooks', 20, [tests('webhooks')]),
  },
  {
    proves: 'The unit and api projects hold with all rounds and a new seed, and in another order of their files.',
    ...chance('random', 30, [WHOLE, `${SUITE} --mode shuffled`], SNIPPETS),
  },
  {
    proves: 'All pages work in Chromium, by keyboard and by the rules of WCAG AA.',
    ...plain('pages', 25, [tests('pages'), 'npx tsx test/verify/pages/screenshots.ts "$(mktemp -d)"'], CHROMIUM),
  },
  {
    proves: 'The documented ways to install, upgrade and consume the service work as they are written.',
    ...plain(
      'install',
      30,
      [tests('install')],
      [...CHROMIUM, 'nginx', 'redis-server', 'pg_dump', 'openssl', 'curl', 'fish', 'zsh'],
    ),
  },
  // So that the part is not run, in place of red, where no registry answers.
  {
    proves:
      "The SDK works, or says why not, on each Node, Deno and Bun, with React's StrictMode, React Native's URL, and in Chromium without one function after the other.",
    ...plain('sdk', 20, [`.ci/executable bun ${BUN}`, tests('sdk')], CHROMIUM),
  },
  {
    proves:
      'OAuth and OpenID Connect libraries, as npm and Debian have them, sign members in with their defaults; so do the recipes with React, Next.js and Expo, and clients of the Model Context Protocol.',
    ...plain('clients', 15, [tests('clients')], [...CHROMIUM, ...OPENID]),
  },
  {
    proves: 'Every endpoint, and the whole api project, hold through PgBouncer in transaction mode.',
    ...plain(
      'pgbouncer',
      45,
      [DEBIAN, tests('pgbouncer'), '.ci/with-pgbouncer "$TEST_DEBIAN13" npx vitest run --project api'],
      ['root', 'TEST_DATABASE_URL', 'debootstrap', ...SNIPPETS],
    ),
  },
  {
    proves:
      'Prometheus takes the alert rules, and each fires at its fault: all but one at a real one, beside no other.',
    ...plain(
      'operations',
      15,
      [tests('operations')],
      ['promtool', 'prometheus', 'redis-server', 'redis-cli', 'faketime'],
    ),
  },
  ...nodes.map(([, version]) => onNode(version!)),
  {
    proves: 'The unit and api projects hold on Deno.',
    ...plain('deno', 45, [`${EMBEDDED} .ci/deno --mode whole`], SNIPPETS),
  },
  {
    proves: 'The storage holds on all nodes of a Citus cluster, as far as docs/scaling.md says.',
    ...plain(
      'citus',
      60,
      ['VITEST_MAX_WORKERS=1 npx vitest run --project api test/storage/{fidelity,leaving}'],
      ['CITUS_URL'],
    ),
  },
  {
    proves: 'The image builds, and runs read-only as its user.',
    ...plain(
      'image',
      30,
      [DEBIAN, 'CI_DATABASE_URL=$TEST_DATABASE_URL .ci/image "$TEST_DEBIAN13"'],
      ['root', 'TEST_DATABASE_URL', 'buildah', 'debootstrap', 'openssl', 'curl'],
    ),
  },
]
