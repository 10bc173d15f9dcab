#!/usr/bin/env node
import { join } from 'node:path'
import { run } from './command.ts'

process.exitCode = await run(process.argv.slice(2), join(import.meta.dirname, '..'), process)
