import { createInterface } from 'node:readline'

/** Before anything is looked at: without a terminal nobody can be asked. */
export function refuseUnasked(yes: boolean) {
  if (yes || process.stdin.isTTY) return
  throw new Error('Nothing was removed: without a terminal nobody can be asked, so --yes is needed.')
}

/** Has the name of what is removed typed, unless `--yes` stands for it. */
export async function confirm(name: string, yes: boolean) {
  if (!yes && (await answerTo(`Type ${name} to go on: `)) !== name) throw new Error('Nothing was removed.')
}

/** What is typed; undefined where the terminal ends instead, or somebody ends us: then the database is closed as well. */
function answerTo(question: string): Promise<string | undefined> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => terminal.close())
  return new Promise<string | undefined>((resolve) => {
    terminal.once('close', () => resolve(undefined))
    terminal.question(question, resolve)
  }).finally(() => terminal.close())
}
