import fc from 'fast-check'
import { seed } from './chance.ts'

// Loaded before each file of tests where SEED is set.
fc.configureGlobal({ seed })
