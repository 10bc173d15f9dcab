import pg from 'pg'
import type { Span } from '../servers/process.ts'

const EVERY_MS = 20

/** What each running statement waits for, or CPU; and whether a checkpoint is written. */
const SAMPLE = `SELECT coalesce(array_agg(coalesce(wait_event_type, 'CPU')) FILTER (WHERE backend_type = 'client backend'), '{}') AS waits,
    coalesce(bool_or(backend_type = 'checkpointer' AND wait_event IS DISTINCT FROM 'CheckpointerMain'), false) AS checkpoint
  FROM pg_stat_activity
  WHERE backend_type = 'checkpointer' OR (datname = current_database() AND state = 'active' AND pid <> pg_backend_pid())`

interface Sample {
  at: number
  waits: string[]
  checkpoint: boolean
}

export type DatabaseWaits = Awaited<ReturnType<typeof watchDatabase>>

/** Samples what PostgreSQL's statements wait for. */
export async function watchDatabase(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const samples: Sample[] = []
  let isOver = false
  const sampling = (async () => {
    while (!isOver) {
      const { rows } = await client.query<Omit<Sample, 'at'>>(SAMPLE)
      samples.push({ at: performance.timeOrigin + performance.now(), ...rows[0]! })
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS))
    }
  })()
  return {
    async end() {
      isOver = true
      await sampling.finally(() => client.end())
    },
    /** A checkpoint or else the most frequent wait: Lock, LWLock, IO, CPU. */
    during({ from, to }: Span): string {
      const found = samples.filter(({ at }) => at >= from - EVERY_MS && at <= to + EVERY_MS)
      if (found.some(({ checkpoint }) => checkpoint)) return 'checkpoint'
      const counts = new Map<string, number>()
      for (const wait of found.flatMap(({ waits }) => waits)) counts.set(wait, (counts.get(wait) ?? 0) + 1)
      const [most] = [...counts].sort(([, a], [, b]) => b - a)
      return most?.[0] ?? 'not sampled'
    },
  }
}
