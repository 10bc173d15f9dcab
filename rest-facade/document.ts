import { procedures } from '../routers/index.ts'
import { definitionOf } from '../routers/kernel/trpc-internals.ts'
import type { Json, Operation } from './openapi-operation.ts'

/** The part of a document that is read or completed here. The library's type allows references, which it does not write. */
export interface Document {
  openapi: string
  info: { title: string; description: string; version: string; license?: Json; contact?: Json }
  externalDocs?: { url: string; description: string }
  servers: { url: string; description?: string }[]
  tags?: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas?: Json; headers?: Json; securitySchemes: Json }
}

/** The procedures that an operation can stand for, by trpc-to-openapi's operation id: `storage.put` is `storage-put`. */
const byOperationId = new Map(
  Object.entries(procedures).map(([name, procedure]) => [
    name.replaceAll('.', '-'),
    { name, procedure, meta: definitionOf(procedure).meta },
  ]),
)

export const procedureOf = ({ operationId }: Operation) => byOperationId.get(operationId)!
