import { describe, expect, it } from 'vitest'
import { Opened } from '../../server/process/opened.ts'

function openAll(...names: string[]) {
  const opened = new Opened()
  const closed: string[] = []
  for (const name of names) {
    opened.add(async () => {
      await Promise.resolve()
      closed.push(name)
      if (name.startsWith('failing')) throw new Error(name)
    })
  }
  return { opened, closed }
}

describe('what a process has opened', () => {
  it('is closed in reverse order, one part after the other', async () => {
    const { opened, closed } = openAll('database', 'clock', 'port')
    await opened.close()
    expect(closed).toEqual(['port', 'clock', 'database'])
  })

  it('is closed once', async () => {
    const { opened, closed } = openAll('database')
    await Promise.all([opened.close(), opened.close()])
    expect(closed).toEqual(['database'])
  })

  it('is closed to the end when parts fail, with the error of the first of them', async () => {
    const { opened, closed } = openAll('database', 'failing clock', 'failing port')
    await expect(opened.close()).rejects.toThrow('failing port')
    expect(closed).toEqual(['failing port', 'failing clock', 'database'])
  })

  it('is closed when the work with it fails, with the error of the work', async () => {
    const { opened, closed } = openAll('database', 'failing clock')
    const failing = opened.orClose(async () => {
      opened.add(() => closed.push('port'))
      throw new Error('the port is taken')
    })
    await expect(failing).rejects.toThrow('the port is taken')
    expect(closed).toEqual(['port', 'failing clock', 'database'])
  })

  it('stays open after the work with it', async () => {
    const { opened, closed } = openAll('database')
    expect(await opened.orClose(async () => 'done')).toBe('done')
    expect(closed).toEqual([])
  })
})
