// Builds the types that have the whole API's: those of this package and of the first-party client. Takes 8 s.
// Argument: a working directory, which the caller removes.
import { rollUpTypes } from './types.mjs'

rollUpTypes('tsconfig.types.json', process.argv[2], {
  'server/in-process.d.ts': 'dist/types/index.d.ts',
  'clients/first-party/client.d.ts': 'clients/first-party/dist/client.d.ts',
})
