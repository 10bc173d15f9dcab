import { spawn } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'

/** PostgreSQL's programs refuse to run as root. */
export interface Account {
  name: string
  uid: number
  gid: number
}

/** The owner of `home`, else "postgres" or "nobody"; undefined unless this process is root. Throws when there is no such user. */
export async function accountFor(home: string): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const owner = await stat(home).catch(() => undefined)
  if (owner && owner.uid !== 0) return { name: `user ${owner.uid}`, uid: owner.uid, gid: owner.gid }
  if (owner)
    throw new Error(
      `${home} belongs to root, but PostgreSQL does not run as root: give it to another user with chown -R.`,
    )
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'))
  const [name, , uid, gid] =
    lines.find(([name]) => name === 'postgres') ?? lines.find(([name]) => name === 'nobody') ?? []
  if (!name)
    throw new Error('PostgreSQL does not run as root, and the system has no user "postgres" or "nobody" to run it.')
  return { name, uid: Number(uid), gid: Number(gid) }
}

/** Asks the system, which knows ACLs and parent directories. */
export async function canEnter(account: Account, ...paths: string[]): Promise<boolean> {
  const script = 'for path; do test -x "$path" || exit 1; done'
  const { code } = await run('/bin/sh', ['-c', script, 'sh', ...paths], { account, cwd: '/' })
  return code === 0
}

export interface Outcome {
  /** -1 when the program could not be started. */
  code: number
  output: string
}

/** Runs a program to its end, without this process's environment, which holds secrets and PG… variables. */
export function run(
  file: string,
  args: string[],
  { account, cwd }: { account: Account | undefined; cwd: string },
): Promise<Outcome> {
  const env = process.platform === 'win32' ? undefined : { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }
  const identity = account ? { uid: account.uid, gid: account.gid } : {}
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(env && { env }),
      ...identity,
      windowsHide: true,
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
    child.on('error', (error) => resolve({ code: -1, output: error.message }))
    child.on('close', (code, signal) => resolve({ code: code ?? 128, output: output || `ended by ${signal}` }))
    // On Windows, the server that pg_ctl leaves running keeps our pipes open.
    child.on('exit', () => setTimeout(() => [child.stdout, child.stderr].map((pipe) => pipe.destroy()), 500).unref())
  })
}
