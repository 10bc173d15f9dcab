#!/usr/bin/env node
import '../process/node-version.ts'
import '../process/navigator.ts'

const { runProgram } = await import('./program/program.ts')

await runProgram(process.argv.slice(2))
