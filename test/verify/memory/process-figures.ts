import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'

/** Only Linux reports these figures for other processes. */
export const tellsFigures = existsSync('/proc/self/schedstat')

/** Peak resident memory of a process in MB. */
export async function peakMb(pid: number): Promise<number> {
  const [, kb] = /VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))!
  return Math.round(Number(kb) / 1024)
}

/** Resident memory of a process in MB. */
export async function residentMb(pid: number): Promise<number> {
  const [, kb] = /VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))!
  return Math.round(Number(kb) / 1024)
}

/** CPU time of all threads of a process in milliseconds. */
export async function cpuMs(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`)
  const times = threads.map(async (thread) => {
    const [ns] = (await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '0')).split(' ')
    return Number(ns) / 1e6
  })
  return (await Promise.all(times)).reduce((sum, time) => sum + time, 0)
}

export const median = (numbers: number[]) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!
