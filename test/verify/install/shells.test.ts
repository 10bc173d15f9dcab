import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { run } from '../../commands/run.ts'
import { dataDirectory } from '../../process/service.ts'

/** How each shell reads a file when it starts, and what it has beside the script for completion. */
const shells = [
  ['bash', 'bash --noprofile --rcfile rc -i', 'rc', 'PS1=\'READY \'\nmember-apps() { echo "ran:$*."; }\n'],
  [
    'zsh',
    'zsh -d -i',
    '.zshrc',
    'PROMPT=\'READY \'\nautoload -Uz compinit && compinit -u\nmember-apps() { echo "ran:$*."; }\n',
  ],
  [
    'fish',
    "fish --no-config -i -C 'source rc'",
    'rc',
    'function fish_prompt; echo READY; end\nfunction member-apps; echo "ran:$argv."; end\n',
  ],
] as const

it.each(shells)(
  '%s completes a command, an action, an option, its value and a path on Tab',
  async (shell, line, file, rc) => {
    const directory = await dataDirectory()
    await writeFile(join(directory, 'people.csv'), '')
    const { stdout: script } = await run(['completion', shell], {})
    await writeFile(join(directory, file), `${rc}${script}`)
    const lines = ['member-apps te\tlev\t--lev\tho\t\n', 'member-apps im\tpeo\t\n', 'exit\n']
    const output = await typed(line, directory, lines)
    expect(output).toContain('ran:team level --level hobby.')
    expect(output).toContain('ran:import people.csv.')
  },
)

/** Types each line on a terminal once the shell is ready for it. */
function typed(line: string, directory: string, lines: string[]) {
  const env = { PATH: process.env.PATH, HOME: directory, ZDOTDIR: directory, TERM: 'dumb' }
  const child = spawn('script', ['-qec', line, '/dev/null'], { cwd: directory, env })
  let [output, prompts] = ['', 0]
  child.stdout.on('data', (chunk) => {
    output += chunk
    if (output.split('READY').length - 1 <= prompts || lines.length === 0) return
    prompts += 1
    child.stdin.write(lines.shift())
  })
  child.stdin.on('error', () => {}) // it may have ended before
  return new Promise<string>((resolve, reject) => child.on('error', reject).on('close', () => resolve(output)))
}
