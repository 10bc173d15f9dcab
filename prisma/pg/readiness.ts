import pg from 'pg'

const KEEP_MS = 500

/** Probes the database over a separate connection, so that a pool in full use does not look like a lost database. */
export function openReadiness(config: pg.PoolConfig, readyMs: number) {
  const limits = { connectionTimeoutMillis: readyMs, query_timeout: readyMs }
  const pool = new pg.Pool({ ...config, ...limits, max: 1, idleTimeoutMillis: 0 })
  pool.on('error', () => {})
  let last: Promise<boolean> | undefined
  const ask = async () => {
    const isReady = await pool.query('SELECT 1').then(
      () => true,
      () => false,
    )
    setTimeout(() => (last = undefined), KEEP_MS).unref()
    return isReady
  }
  return {
    isReady: () => (last ??= ask()),
    end: () => pool.end(),
  }
}
