import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { withBackendCpu } from './backend-cpu.ts'
import { createBench } from './database.ts'
import type { Options } from './deliveries.ts'
import { rowsWritten, runImport } from './import-process.ts'
import { sizesOf, writePlatformFiles } from './platform-files.ts'

/** Imports the files of a large platform into an empty database: for the first time, unchanged, and with changes. */
export async function benchImport({ prof, say }: Options) {
  const bench = await createBench()
  const [files, later] = ['files', 'later'].map((name) => join(bench.dataDir, name)) as [string, string]
  const sizes = sizesOf(1)
  try {
    await writePlatformFiles(files, sizes)
    await writePlatformFiles(later, sizes, ' (neu)')
    const rows = Object.values(sizes).reduce((sum, size) => sum + size, 0)
    say(`${rows} records: ${JSON.stringify(sizes)}`)
    say('               seconds   CPU s   PostgreSQL CPU s   RSS MB   records/s   rows written   target')
    for (const [name, directory, target] of [
      ['first', files, 'under 90 s, 300 MB'],
      ['unchanged', files, 'under 30 s, 0 rows'],
      ['1 % changed', later, ''],
    ] as const) {
      const before = await rowsWritten(bench.url)
      const { result, seconds: server } = await withBackendCpu(bench.url, () => runImport(directory, bench.url, prof))
      const { seconds, cpu, maxRSS, output } = result
      const written = (await rowsWritten(bench.url)) - before
      const cells = [
        ...[figure(seconds, 10, 1), figure(cpu / 1e6, 8, 1), figure(server, 19, 1), figure(maxRSS / 1024, 9)],
        ...[figure(rows / seconds, 12), figure(written, 15)],
      ]
      say(`${name.padEnd(12)}${cells.join('')}   ${target}`)
      if (name === 'first') say(output)
    }
  } finally {
    await Promise.all([files, later].map((directory) => rm(directory, { recursive: true, force: true })))
    await bench.remove()
  }
}

const figure = (number: number, width: number, digits = 0) => number.toFixed(digits).padStart(width)
