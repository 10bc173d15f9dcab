import { parseArgs } from 'node:util'
import { handlesOf } from './soak/figures.ts'
import { runSoak } from './soak/run.ts'

const usage = `npm run soak [-- --minutes 15]
A mixed load of every operation, 5 % bad input, sign-ins and deliveries on the topology of deploy/compose.yaml. Fails at a 5xx, a
status that is not right, memory that grows by more than 10 % from the second to the last quarter, or handles that stay open.
`

const say = (text: string) => void process.stdout.write(text)
const { values } = parseArgs({ options: { minutes: { type: 'string', default: '15' }, help: { type: 'boolean' } } })
if (values.help) say(usage)
else process.exitCode = await soak(Number(values.minutes) * 60)

async function soak(seconds: number): Promise<number> {
  const server = process.env.TEST_DATABASE_URL || process.env.DATABASE_URL
  const { requests, answered, failures, signIns, deliveries, held } = await runSoak({ seconds, server })
  for (const [name, counts] of Object.entries(answered).sort()) {
    say(
      `${name.padEnd(34)} ${Object.entries(counts)
        .map(([status, count]) => `${status}: ${count}`)
        .join('  ')}\n`,
    )
  }
  say(`\n${requests} requests, ${signIns} sign-ins, ${deliveries} deliveries, ${failures.length} failures\n`)
  for (const failure of failures.slice(0, 20)) say(`  ${failure}\n`)
  const wrong = [...(failures.length > 0 ? ['failures'] : [])]
  for (const { process: name, rss, heap, before, after } of held) {
    const growth = rss[3]! / rss[1]!
    say(
      `${name.padEnd(8)} rss ${rss.join(' ')} MB, ${((growth - 1) * 100).toFixed(1)} % from the second to the last quarter; `,
    )
    say(`heap ${heap.join(' ')}; handles ${handlesOf(before)} -> ${handlesOf(after)}, `)
    say(
      `files ${before.files} -> ${after.files}, listeners ${before.listeners} -> ${after.listeners}, warnings ${after.warnings}\n`,
    )
    if (growth > 1.1) wrong.push(`memory of ${name}`)
    if (handlesOf(after) > handlesOf(before) + 10 || after.files > before.files + 10) wrong.push(`handles of ${name}`)
    if (after.listeners > before.listeners) wrong.push(`listeners of ${name}`)
  }
  say(wrong.length > 0 ? `\nNot as wanted: ${wrong.join(', ')}\n` : '\nAll as wanted.\n')
  return wrong.length > 0 ? 1 : 0
}
