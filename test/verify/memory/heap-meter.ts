import { mkdtempSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'

/** On SIGUSR2 a process collects its garbage, and writes how much of V8's heap it uses, and how often it has done that. */
const program = (file: string) => `
  import { writeFileSync } from 'node:fs'
  import { setFlagsFromString } from 'node:v8'
  import { runInNewContext } from 'node:vm'
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  let count = 0
  process.on('SIGUSR2', () => {
    collect()
    writeFileSync(${JSON.stringify(file)}, JSON.stringify({ count: ++count, used: process.memoryUsage().heapUsed }))
  })`

/** Measures what a process keeps in V8's heap. `option` is an option of Node for that process. */
export function heapMeter() {
  const directory = mkdtempSync(join(tmpdir(), 'heap-meter-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const file = join(directory, 'heap.json')
  let count = 0
  const read = (): { count: number; used: number } => JSON.parse(readFileSync(file, 'utf8'))
  return {
    option: `--import=data:text/javascript,${encodeURIComponent(program(file))}`,
    async usedBytes(pid: number) {
      count++
      process.kill(pid, 'SIGUSR2')
      await expect.poll(() => read().count).toBe(count)
      return read().used
    },
  }
}
