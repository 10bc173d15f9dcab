import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { recordTypeNames } from '../../../routers/directory/record-types.ts'
import { procedures } from '../../../routers/index.ts'

const read = (name: string) => readFileSync(join(import.meta.dirname, '../../verify/soak', name), 'utf8')
const quoted = (text: string) => [...text.matchAll(/'([a-zA-Z.]+)'/g)].map(([, name]) => name!)

/** In operations.ts: `operation('NAME'`, where a placeholder stands for a name of the list `me` or a kind of records. */
function readOperations(): string[] {
  const text = read('operations.ts').replace(/\$\{\w+\}/g, '*')
  const [, me] = /const me = \[(.*?)\]/s.exec(text)!
  const named = [...text.matchAll(/\boperation\(\s*['`]([\w.*]+)['`]/g)].map(([, name]) => name!)
  return named.flatMap((name) => {
    if (!name.includes('*')) return [name]
    return (name === 'me.*' ? quoted(me!) : recordTypeNames).map((one) => name.replace('*', one))
  })
}

/** In team-operations.ts: what rows begin with, and the lists of `each`. */
function readTeamOperations(): string[] {
  const text = read('team-operations.ts')
  const [, teamReads] = /const teamReads = \[(.*?)\]/s.exec(text)!
  const rows = [...text.matchAll(/^ {4}\['([\w.]+)', \[/gm)].map(([, name]) => name!)
  const lists = [...text.matchAll(/\.\.\.each\(\[(.*?)\]/gs)].flatMap(([, list]) => quoted(list!))
  return [...quoted(teamReads!), ...rows, ...lists].map((name) => `developer.${name}`)
}

describe('the soak', () => {
  const exercised = [...readOperations(), ...readTeamOperations()]

  it('exercises every procedure', () => {
    expect(Object.keys(procedures).filter((name) => !exercised.includes(name))).toEqual([])
  })

  it('names each once, and none that does not exist', () => {
    expect(exercised.filter((name) => !(name in procedures))).toEqual([])
    expect(exercised.filter((name, at) => exercised.indexOf(name) !== at)).toEqual([])
  })
})
