import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { removedAnyway } from '../data/interrupted.ts'
import { freePort } from './process.ts'

function requireRedis() {
  if (spawnSync('redis-server', ['--version']).error) {
    throw new Error('Nodes are measured with Redis: redis-server has to be installed.')
  }
}

/** Starts a Redis that stores nothing on disk, at a free port. */
export async function startRedis() {
  requireRedis()
  const port = await freePort()
  const args = ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--appendonly', 'no']
  const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (text) => String(text).includes('Ready to accept connections') && resolve())
    ended.then(() => reject(new Error('Redis did not start.')))
  })
  const stop = removedAnyway(async () => {
    child.kill()
    await ended
  })
  return { url: `redis://127.0.0.1:${port}`, pid: child.pid!, stop }
}
