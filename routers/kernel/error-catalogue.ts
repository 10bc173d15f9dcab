import type { Place, Row } from './error-row.ts'
import type { ApiError, ErrorId } from './errors.ts'
import { errorRows, errors } from './errors.ts'

export interface CatalogueRow {
  id: ErrorId
  error: ApiError
  place: Place
  cause: string
  fix: string
}

export const errorCatalogue = (): CatalogueRow[] =>
  (Object.entries(errorRows) as [ErrorId, Row][])
    .map(([id, row]) => {
      const make = errors[id] as (...given: unknown[]) => ApiError
      const { place, cause, fix } = row
      return { id, error: make(...('example' in row ? row.example : [])), place, cause, fix }
    })
    .sort((one, other) => one.error.status - other.error.status)
