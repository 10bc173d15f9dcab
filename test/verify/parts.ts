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
  /** Of one run; it is ended after that. */
  minutes: number
  /** Programs, which are installed; and what can only be said to be missing: `root`, a setting (`CITUS_URL`). */
  needs: readonly string[]
  /** In bash, one after the other; those after a failure are run as well. */
  commands: readonly string[]
}

/** All files of a folder of test/verify; a test that is skipped is a fault there. */
const tests = (folder: string, ...more: string[]) =>
  [
    `npx vitest run --mode whole --project verify test/verify/${folder}/`,
    ...more,
    '--reporter=default --reporter=json --outputFile.json="$REPORT" && node .ci/skipped.mjs "$REPORT"',
  ].join(' ')
/** What is measured shares the machine with nothing of ours. */
const ALONE = '--maxWorkers=1'

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

/** Of the SDK alone. */
export const BUN = '1.4.5'

const runtimes = readFileSync(new URL('../../.ci/runtimes', import.meta.url), 'utf8')
  .trim()
  .split('\n')
const nodes = runtimes.map((line) => line.split(' ')).filter(([name]) => name === 'node')

const onNode = (version: string): Part => ({
  name: `node-${version.split('.')[0]}`,
  proves: `The unit, api and process projects hold on Node ${version}.`,
  kind: 'plain',
  minutes: 60,
  needs: [...CHROMIUM, ...SNIPPETS],
  commands: [`.ci/on-node ${version} ${WHOLE} --project process`],
})

/** The one list of what `npm run verify` runs, in its order. */
export const parts: readonly Part[] = [
  {
    name: 'openapi',
    proves:
      "The OpenAPI documents break no rule of Redocly's or Spectral's, and generators make working clients of them.",
    kind: 'plain',
    minutes: 20,
    needs: [],
    commands: ['.ci/openapi', tests('openapi')],
  },
  {
    name: 'figures',
    proves:
      'No operation costs more than its target beside a bare handler, a service starts and rests as lightly as said, and a worker delivers as many webhooks.',
    kind: 'figures',
    minutes: 60,
    needs: [],
    commands: [tests('figures', ALONE), bench('check')],
  },
  {
    name: 'performance',
    proves:
      'docs/performance.md says what each operation costs beside a bare handler and its peers, and docs/growth.md as data grows.',
    kind: 'figures',
    minutes: 120,
    needs: ['redis-server'],
    commands: [bench('report --rounds 9 --requests 1000')],
  },
  {
    name: 'memory',
    proves: 'Large bodies, lists and imports stay below their limits of memory.',
    kind: 'figures',
    minutes: 30,
    needs: [],
    commands: [tests('memory', ALONE)],
  },
  {
    name: 'soak',
    proves: 'A mixed load on two nodes and a worker lets neither memory nor handles grow.',
    kind: 'figures',
    minutes: 10,
    needs: TOPOLOGY,
    commands: [tests('soak', ALONE)],
  },
  {
    name: 'floods',
    proves: 'Slow, hostile and very many clients neither stop the service nor slow its other clients.',
    kind: 'figures',
    minutes: 45,
    needs: [],
    commands: [tests('floods', ALONE)],
  },
  {
    name: 'rows',
    proves: 'With a million rows, statements still use the plans that they were written for.',
    kind: 'figures',
    minutes: 15,
    needs: [],
    commands: [tests('rows', ALONE)],
  },
  {
    name: 'database',
    proves:
      'Faults of the database under load cost no acknowledged write, and two services on it keep the quota exact.',
    kind: 'chance',
    minutes: 20,
    needs: [],
    commands: [tests('database')],
  },
  {
    name: 'redis',
    proves: 'Nodes with one Redis count as one, and as safely while it is away.',
    kind: 'chance',
    minutes: 10,
    needs: ['redis-server', 'redis-cli'],
    commands: [tests('redis')],
  },
  {
    name: 'topology',
    proves:
      'Behind HAProxy no request is lost when a node stops, the service returns after each fault, and no answer is of another form.',
    kind: 'chance',
    minutes: 30,
    needs: [...TOPOLOGY, 'nginx'],
    commands: [tests('topology')],
  },
  {
    name: 'kills',
    proves:
      'kill -9 at any moment loses no acknowledged write, no change that a copy follows, no renewal, no message and no record of an import, and counts no repeated write twice.',
    kind: 'chance',
    minutes: 45,
    needs: [],
    commands: [tests('kills')],
  },
  {
    name: 'webhooks',
    proves: 'Workers deliver under load and after an outage, and silent receivers hold nobody up.',
    kind: 'chance',
    minutes: 20,
    needs: [],
    commands: [tests('webhooks')],
  },
  {
    name: 'random',
    proves: 'The unit and api projects hold with all rounds and a new seed, and in another order of their files.',
    kind: 'chance',
    minutes: 30,
    needs: SNIPPETS,
    commands: [WHOLE, `${SUITE} --mode shuffled`],
  },
  {
    name: 'pages',
    proves: 'All pages work in Chromium, by keyboard and by the rules of WCAG AA.',
    kind: 'plain',
    minutes: 25,
    needs: CHROMIUM,
    commands: [tests('pages'), 'npx tsx test/verify/pages/screenshots.ts "$(mktemp -d)"'],
  },
  {
    name: 'install',
    proves: 'The documented ways to install, upgrade and consume the service work as they are written.',
    kind: 'plain',
    minutes: 30,
    needs: [...CHROMIUM, 'nginx', 'redis-server', 'pg_dump', 'openssl', 'curl', 'fish', 'zsh'],
    commands: [tests('install')],
  },
  {
    name: 'sdk',
    proves:
      "The SDK works, or says why not, on each Node, Deno and Bun, with React's StrictMode, React Native's URL, and in Chromium without one function after the other.",
    kind: 'plain',
    minutes: 20,
    needs: CHROMIUM,
    // So that the part is not run, in place of red, where no registry answers.
    commands: [`.ci/executable bun ${BUN}`, tests('sdk')],
  },
  {
    name: 'clients',
    proves: 'OAuth and OpenID Connect libraries, as npm and Debian have them, sign members in with their defaults.',
    kind: 'plain',
    minutes: 15,
    needs: [
      ...CHROMIUM,
      ...['python3-requests-oauthlib', 'python3-authlib', 'oidc-agent', 'apache2', 'libapache2-mod-auth-openidc'],
    ],
    commands: [tests('clients')],
  },
  {
    name: 'pgbouncer',
    proves: 'Every endpoint, and the whole api project, hold through PgBouncer in transaction mode.',
    kind: 'plain',
    minutes: 45,
    needs: ['root', 'TEST_DATABASE_URL', 'debootstrap', ...SNIPPETS],
    commands: [DEBIAN, tests('pgbouncer'), '.ci/with-pgbouncer "$TEST_DEBIAN13" npx vitest run --project api'],
  },
  {
    name: 'operations',
    proves:
      'Prometheus takes the alert rules, and each fires at its fault: all but one at a real one, beside no other.',
    kind: 'plain',
    minutes: 15,
    needs: ['promtool', 'prometheus', 'redis-server', 'redis-cli', 'faketime'],
    commands: [tests('operations')],
  },
  ...nodes.map(([, version]) => onNode(version!)),
  {
    name: 'deno',
    proves: 'The unit and api projects hold on Deno.',
    kind: 'plain',
    minutes: 45,
    needs: SNIPPETS,
    commands: [`${EMBEDDED} .ci/deno --mode whole`],
  },
  {
    name: 'citus',
    proves: 'The storage holds on all nodes of a Citus cluster, as far as docs/scaling.md says.',
    kind: 'plain',
    minutes: 60,
    needs: ['CITUS_URL'],
    commands: ['npx vitest run --project api --maxWorkers=1 test/storage/{fidelity,leaving}'],
  },
  {
    name: 'image',
    proves: 'The image builds, and runs read-only as its user.',
    kind: 'plain',
    minutes: 30,
    needs: ['root', 'TEST_DATABASE_URL', 'buildah', 'debootstrap', 'openssl', 'curl'],
    commands: [DEBIAN, 'CI_DATABASE_URL=$TEST_DATABASE_URL .ci/image "$TEST_DEBIAN13"'],
  },
]
