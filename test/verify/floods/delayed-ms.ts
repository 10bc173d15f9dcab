import { readFileSync } from 'node:fs'

/** For how many milliseconds a process or this one was ready to run, and the machine had no processor for it. */
export function delayedMs(pid: number): number {
  const threads = [`/proc/${pid}/task/${pid}/schedstat`, '/proc/thread-self/schedstat']
  return threads.reduce((ms, file) => ms + Number(readFileSync(file, 'utf8').split(' ')[1]) / 1e6, 0)
}
