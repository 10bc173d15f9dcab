import { z } from 'zod'

/** Any value that JSON can represent; so never `undefined`, and no field of it either. */
export type Json = string | number | boolean | null | Json[] | { [name: string]: Json }

/** Typed as JSON, and not looked into: a value may have megabytes, or be a placeholder. */
export const json: z.ZodType<Json, Json> = z.unknown() as z.ZodType<Json, Json>
