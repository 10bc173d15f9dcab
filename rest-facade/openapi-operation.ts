import type { AnyProcedure } from '@trpc/server'
import type { Meta } from '../routers/kernel/meta.ts'

export type Json = Record<string, unknown>

export interface Parameter {
  in: 'path' | 'query' | 'header'
  name: string
  required?: boolean
  description?: string
  schema?: Json
  example?: unknown
}

export interface Response {
  description: string
  headers?: Record<string, Json>
  content?: {
    /** Absent where the body is a file. */
    'application/json': { schema: Json; examples?: Record<string, Example> }
    'text/event-stream'?: { schema: Json; example: string }
  }
}

export interface Example {
  value: unknown
}

export interface Operation {
  operationId: string
  summary: string
  description: string
  tags?: string[]
  responses: Record<string, Response>
  parameters?: Parameter[]
  requestBody?: {
    required?: boolean
    description?: string
    content: { 'application/json': { schema: ObjectSchema; examples?: Record<string, Example> } }
  }
  security?: Record<string, string[]>[]
}

export interface ObjectSchema extends Json {
  properties: Record<string, Json>
  required?: string[]
  additionalProperties?: boolean
}

export interface Procedure {
  procedure: AnyProcedure
  meta: Meta
}

/** An operation at its place: `methods` are those of its path. */
export interface Place {
  method: string
  methods: readonly string[]
}
