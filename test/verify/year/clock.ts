import { spawnSync } from 'node:child_process'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export type Clock = Awaited<ReturnType<typeof openClock>>

/**
 * The machine's clock and a number of seconds, which libfaketime reads from a file of the directory at each reading: all processes
 * with `env` are ahead alike, and at once. Their steady clock jumps with it, as that of a machine that was asleep: otherwise the
 * service takes a jump for a clock that was set, and keeps its former time for 10 s (server/process/database-clock.ts).
 */
export async function openClock(directory: string) {
  const file = join(directory, 'ahead')
  let seconds = 0
  /** Never half written. */
  async function write() {
    await writeFile(`${file}.new`, `+${seconds}\n`)
    await rename(`${file}.new`, file)
  }
  await write()
  const shown = spawnSync('faketime', ['-m', '-f', '+0', 'printenv', 'LD_PRELOAD'], { encoding: 'utf8' })
  return {
    env: {
      LD_PRELOAD: shown.stdout.trim(),
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DISABLE_SHM: '1',
      NO_FAKE_STAT: '1',
    },
    /** Unix time in milliseconds. */
    now: () => Date.now() + seconds * 1000,
    /** Returns the time to which it moves, which no process has read before: Unix time in milliseconds. */
    async advance(by: number): Promise<number> {
      seconds += by
      const to = this.now()
      await write()
      return to
    },
    /** Moves the clock forward to a second of the day (UTC): today's, or tomorrow's if that is over. Returns the time. */
    async advanceTo(ofDay: number): Promise<number> {
      const at = Math.floor(this.now() / 1000) % 86_400
      return this.advance((ofDay - at + 86_400) % 86_400)
    },
  }
}
