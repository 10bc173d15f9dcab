import type {
  inferRouterError,
  TRPCBuiltRouter,
  TRPCMutationProcedure,
  TRPCQueryProcedure,
  TRPCSubscriptionProcedure,
} from '@trpc/server'
import type { appRouter } from './index.ts'
import type { Json } from './kernel/json.ts'

// The router without what only the service needs: with `ctx` and `meta`, a client's types would contain all of Prisma and zod.
// tsc repeats the name of a declared type, but writes an inferred constant's type out in full, hence two constants that only
// declarations mention.

type ProcedureRecord<Router> = Router extends TRPCBuiltRouter<infer _Root, infer Record> ? Record : never

declare const served: {
  errorShape: inferRouterError<typeof appRouter>
  procedures: WithoutContext<ProcedureRecord<typeof appRouter>>
}

export const errorShape = (() => served.errorShape)()

interface Definition<Input, Output> {
  input: Input
  output: Output
  meta: object
  errorShape: typeof errorShape
}

type WithoutContext<T> = T extends infer Record
  ? {
      [Name in keyof Record]: Record[Name] extends TRPCQueryProcedure<infer Procedure>
        ? TRPCQueryProcedure<Definition<WrittenOut<Procedure['input']>, WrittenOut<Procedure['output']>>>
        : Record[Name] extends TRPCMutationProcedure<infer Procedure>
          ? TRPCMutationProcedure<Definition<WrittenOut<Procedure['input']>, WrittenOut<Procedure['output']>>>
          : Record[Name] extends TRPCSubscriptionProcedure<infer Procedure>
            ? TRPCSubscriptionProcedure<
                Definition<WrittenOut<Procedure['input']>, WrittenOutStream<Procedure['output']>>
              >
            : WithoutContext<Record[Name]>
    }
  : never

/** Items with their ids. */
type WrittenOutStream<T> =
  T extends AsyncIterable<{ id: string; data: infer Item }>
    ? AsyncIterable<{ id: string; data: WrittenOut<Item> }, void, unknown>
    : never

/** Expands our type names, except `Json`, which clients have as well. */
type WrittenOut<T> = [T, Json] extends [Json, T]
  ? Json
  : T extends object
    ? T extends infer Value
      ? { [Name in keyof Value]: WrittenOut<Value[Name]> }
      : never
    : T

export const procedures = (() => served.procedures)()

/** The procedures' names, inputs and outputs, and the form of errors. */
export type AppRouter = TRPCBuiltRouter<
  { ctx: object; meta: object; errorShape: typeof errorShape; transformer: false },
  typeof procedures
>
