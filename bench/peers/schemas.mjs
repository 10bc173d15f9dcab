export const text = { type: 'string' }
export const int = { type: 'integer' }
export const object = (properties) => ({ type: 'object', properties })
export const list = (items) => ({ type: 'array', items })
