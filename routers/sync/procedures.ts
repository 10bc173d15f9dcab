import { router } from '../kernel/trpc.ts'
import { batch } from './batch.ts'
import { changes } from './changes.ts'
import { collections } from './collections.ts'
import { entries } from './entries.ts'
import { watch } from './watch.ts'

/** Beyond the documents: a store as a whole, at the host `sync`. */
export const wholeStorage = router({ collections, entries, changes, watch, batch })
