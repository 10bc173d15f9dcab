import { procedures } from '../routers/index.ts'
import { readDefinition } from '../routers/kernel/trpc-internals.ts'
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

/** `storagePut` of `storage.put`: a name that each generator can use for a function as it is. */
export const toOperationId = (name: string) => name.replace(/[.-](\w)/g, (_, letter: string) => letter.toUpperCase())

/** The procedures that an operation can stand for. */
const byOperationId = new Map(
  Object.entries(procedures).map(([name, procedure]) => [
    toOperationId(name),
    { name, procedure, meta: readDefinition(procedure).meta },
  ]),
)

export const findProcedure = ({ operationId }: Operation) => byOperationId.get(operationId)!
