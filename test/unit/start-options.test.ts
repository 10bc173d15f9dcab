import { expect, it } from 'vitest'
import { settingsOf } from '../../server/process/start-options.ts'

it.each([
  [{}, {}, {}],
  [{ port: '4000' }, {}, { PORT: '4000', INTERNAL_PORT: '4001' }],
  [{ port: '4000' }, { PORT: '1', INTERNAL_PORT: '' }, { PORT: '4000', INTERNAL_PORT: '4001' }],
  [{ lan: '192.168.1.7' }, {}, { HOST: '0.0.0.0', LOCAL_HOST: '192.168.1.7' }],
  [{ port: 'many' }, {}, { PORT: 'many', INTERNAL_PORT: '' }],
  [{ port: '4000' }, { INTERNAL_PORT: '9000' }, { PORT: '4000', INTERNAL_PORT: '9000' }],
])('the options of a start %j with %j are the settings %j', (options, env, settings) => {
  expect(settingsOf(options, env)).toEqual(settings)
})
