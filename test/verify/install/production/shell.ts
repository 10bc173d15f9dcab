import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A shell that runs one block after another, as a reader's does: variables, functions and the directory stay. */
export function openShell(directory: string, options: { cwd: string; env: NodeJS.ProcessEnv }) {
  const child = spawn('bash', ['-s'], { ...options, stdio: ['pipe', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    output += chunk
  })
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()))
  child.stdin.on('error', () => {}) // a shell that has ended
  child.stdin.write('set -eo pipefail\n')
  let blocks = 0

  return {
    /** The block's output. Throws with it when a command fails; then the shell has ended. */
    async run(block: string): Promise<string> {
      const start = output.length
      const file = join(directory, `block-${++blocks}.sh`)
      const mark = `block ${blocks} is done\n`
      await writeFile(file, block)
      child.stdin.write(`. ${file} < /dev/null 2>&1; printf '%s' '${mark}'\n`)
      while (!output.endsWith(mark)) {
        if (child.stdout.readableEnded) throw new Error(`This block failed:\n${block}\n${output.slice(start)}`)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      return output.slice(start, -mark.length)
    },
    async close() {
      child.stdin.end()
      await ended
    },
  }
}
