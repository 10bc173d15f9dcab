/** No multiple of the mixed load's five operations, so that each is traced; and few enough to cost the service little. */
const EVERY = 7

export const isTraced = (i: number) => i % EVERY === 0

const PARENT = '00000000000000aa'

/** The trace id of a load's i-th request; 0 is no valid one. */
export const toTraceId = (i: number) => (i + 1).toString(16).padStart(32, '0')

export const toTraceparent = (i: number) => `00-${toTraceId(i)}-${PARENT}-01`
