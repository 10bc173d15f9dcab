import type { Io } from '../line/command.ts'

const INTERVAL_MS = 100

export interface Progress {
  bytes: (more: number) => void
  rows: (more: number) => void
  read: () => void
  end: () => void
}

/** On a terminal one line that is rewritten; elsewhere a line at the end. Without a size there is no percentage. */
export function showProgress(stderr: Io['stderr'], recordType: string, totalBytes: number | undefined): Progress {
  const start = performance.now()
  let [bytes, rows] = [0, 0]
  let merging = false
  const line = () => {
    if (merging) return `${recordType}: ${rows} rows, merging`
    const share = totalBytes === undefined ? '' : `${Math.floor((100 * bytes) / Math.max(totalBytes, 1))} %, `
    return `${recordType}: ${share}${rows} rows`
  }
  const draw = () => stderr.write(`\r${line()}\x1b[K`)
  const timer = stderr.isTTY ? setInterval(draw, INTERVAL_MS) : undefined
  if (timer) draw()
  return {
    bytes(more) {
      bytes += more
    },
    rows(more) {
      rows += more
    },
    read() {
      merging = true
      if (timer) draw()
    },
    end() {
      clearInterval(timer)
      const seconds = ((performance.now() - start) / 1_000).toFixed(1)
      stderr.write(timer ? '\r\x1b[K' : `${recordType}: ${rows} rows in ${seconds} s\n`)
    },
  }
}
