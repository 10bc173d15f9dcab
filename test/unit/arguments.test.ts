import { describe, expect, it } from 'vitest'
import { settingsOf } from '../../server/process/arguments.ts'

describe('the arguments of a start', () => {
  it.each([
    [[], {}, {}],
    [['--port', '4000'], {}, { PORT: '4000', INTERNAL_PORT: '4001' }],
    [['--port=4000'], { PORT: '1', INTERNAL_PORT: '' }, { PORT: '4000', INTERNAL_PORT: '4001' }],
    [['--lan', '192.168.1.7'], {}, { HOST: '0.0.0.0', LOCAL_HOST: '192.168.1.7' }],
    [['--port', 'many'], {}, { PORT: 'many', INTERNAL_PORT: '' }],
    [['--port', '4000'], { INTERNAL_PORT: '9000' }, { PORT: '4000', INTERNAL_PORT: '9000' }],
  ])('%j with %j are %j', (argv, env, settings) => {
    expect(settingsOf(argv, env)).toEqual(settings)
  })

  it.each([[['--prot', '1']], [['--port']], [['4000']]])('are refused with the usage: %j', (argv) => {
    expect(() => settingsOf(argv, {})).toThrow(/\n\nUsage: npm start -- \[--port N\] \[--lan ADDRESS\]\n/)
  })
})
