import './process/node-version.ts'

const { runProgram } = await import('./commands/program/run-command.ts')

await runProgram(['start', ...process.argv.slice(2)])
