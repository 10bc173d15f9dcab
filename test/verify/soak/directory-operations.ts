import type { RecordTypeName } from '../../../routers/directory/record-types.ts'
import { recordTypeNames } from '../../../routers/directory/record-types.ts'
import { sampleRecords } from '../../directory/sample-records.ts'
import { id } from '../../support/tenant.ts'
import type { Operation, Trpc } from './operation.ts'
import { operation } from './operation.ts'

export async function ofDirectory(academy: string, trpc: Trpc): Promise<Operation[]> {
  const upsert = (kind: RecordTypeName, item: object) => trpc('POST', `directory.${kind}.upsert`, { items: [item] })
  const samples: Record<string, Record<string, unknown>> = { ...sampleRecords() }
  samples.lessons!.academy = academy
  samples.quizzes!.academy = academy
  for (const kind of recordTypeNames) {
    const reply = await upsert(kind, samples[kind]!)
    if (reply.status !== 200) throw new Error(`${kind}: ${reply.status} ${reply.text}`)
  }
  const nobody: Record<string, () => unknown> = {
    memberships: () => ({ organisation: samples.organisations!.id, person: id('none') }),
    groupMembers: () => ({ group: samples.groups!.id, person: id('none'), role: 'member' }),
  }
  const end = (kind: RecordTypeName) => trpc('POST', `directory.${kind}.end`, { ids: [nobody[kind]?.() ?? id('none')] })
  return [
    ...recordTypeNames.flatMap((kind) => [
      operation(`directory.${kind}.upsert`, [200], () => upsert(kind, samples[kind]!), 0.3),
      operation(`directory.${kind}.end`, [200], () => end(kind), 0.3),
      operation(`directory.${kind}.list`, [200], () => trpc('GET', `directory.${kind}.list`, { limit: 20 }), 0.3),
    ]),
    operation('directory.approvals.list', [200], () => trpc('GET', 'directory.approvals.list', { limit: 20 })),
    operation('directory.approvals.set', [404], () =>
      trpc('POST', 'directory.approvals.set', { club: samples.groups!.club, app: id('none'), state: 'approved' }),
    ),
    operation('directory.people.export', [200], () =>
      trpc('GET', 'directory.people.export', { id: samples.people!.id }),
    ),
    operation('directory.people.erase', [200], async () => {
      const item = { id: id('person'), firstName: 'P', lastName: 'P', email: '' }
      await upsert('people', item)
      return trpc('POST', 'directory.people.erase', { id: item.id })
    }),
  ]
}
