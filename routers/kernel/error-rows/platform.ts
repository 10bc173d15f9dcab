import type { RefusedRecord, Rows } from '../error-row.ts'
import { withParameters } from '../error-row.ts'

/** The directory, and the data of a person. */
export const platformErrors = {
  recordsRefused: withParameters({
    status: 400,
    make: (count: number, refused: readonly RefusedRecord[]) => ({
      message: `Nothing was stored: ${count} ${count === 1 ? 'record was' : 'records were'} refused.`,
      refused,
    }),
    example: [1, [{ index: 0, field: 'person', reason: 'This person does not exist.' }]],
    place: 'tRPC',
    cause: 'Some records are invalid; refused has the index, field and reason of each.',
    fix: 'Correct these records and repeat the call: nothing was stored.',
  }),
  clubUnknown: {
    status: 404,
    message: 'This club does not exist.',
    place: 'tRPC',
    cause: 'There is no club with this id.',
    fix: 'Send the club to the directory first, or correct the id.',
  },
  personUnknown: {
    status: 404,
    message: 'This person does not exist.',
    place: 'tRPC',
    cause: 'There is no person with this id.',
    fix: 'Check the id. The person may have been erased.',
  },
  dataRequestUnknown: {
    status: 404,
    message: 'This request for data does not exist.',
    place: 'tRPC',
    cause: 'There is no request with this id.',
    fix: 'Check the id. The person may have been erased, or the request was answered a year ago.',
  },
  exportTooLarge: {
    status: 413,
    message: 'This person has more than 16 MiB of data. Export it with member-apps member.',
    place: 'tRPC',
    cause: 'The data does not fit into one response.',
    fix: 'Run the command on the server, which writes a file.',
  },
} satisfies Rows
