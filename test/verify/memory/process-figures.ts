import { existsSync, readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'

/** Only Linux reports these figures for other processes. */
export const tellsFigures = existsSync('/proc/self/schedstat')

const statusMb = async (pid: number, field: string) =>
  Math.round(
    Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(await readFile(`/proc/${pid}/status`, 'utf8'))![1]) / 1024,
  )
/** Peak resident memory of a process in MB. */
export const peakMb = (pid: number) => statusMb(pid, 'VmHWM')
/** Resident memory of a process in MB. */
export const residentMb = (pid: number) => statusMb(pid, 'VmRSS')

/** CPU time of all threads of a process in milliseconds. */
export async function cpuMs(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`)
  const times = threads.map(async (thread) => {
    const [ns] = (await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '0')).split(' ')
    return Number(ns) / 1e6
  })
  return (await Promise.all(times)).reduce((sum, time) => sum + time, 0)
}

/** For how many milliseconds a process or this one was ready to run, and the machine had no processor for it. */
export function delayedMs(pid: number): number {
  const threads = [`/proc/${pid}/task/${pid}/schedstat`, '/proc/thread-self/schedstat']
  return threads.reduce((ms, file) => ms + Number(readFileSync(file, 'utf8').split(' ')[1]) / 1e6, 0)
}

export const median = (numbers: number[]) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!
