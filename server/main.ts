import './process/node-version.ts'
import './process/navigator.ts'

const { runProgram } = await import('./commands/program/program.ts')

await runProgram(['start', ...process.argv.slice(2)])
