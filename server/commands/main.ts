#!/usr/bin/env node
import '../process/node-version.ts'

const { runProgram } = await import('./program/run-command.ts')

await runProgram(process.argv.slice(2))
