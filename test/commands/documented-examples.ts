import { execFileSync } from 'node:child_process'
import { run } from './run.ts'

const read = new Map<string, Promise<string[][]>>()

/** The examples of a command's help, each as the arguments that bash makes of its line. */
export function readExamples(name: string): Promise<string[][]> {
  const examples = read.get(name) ?? parseExamples(name)
  read.set(name, examples)
  return examples
}

async function parseExamples(name: string): Promise<string[][]> {
  const { stdout } = await run([name, '--help'], {})
  const lines = stdout.replaceAll(/ \\\n +/g, ' ').matchAll(/^ {2}\$ member-apps (.+)$/gm)
  return [...lines].map(([, line]) =>
    execFileSync('bash', ['-c', `printf '%s\\0' ${line}`], { encoding: 'utf8' })
      .split('\0')
      .slice(0, -1),
  )
}
