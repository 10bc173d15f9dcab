// What a phone has in place of Node: the browser is the test's `globalThis.openAuthSession`, the secure store a Map.
import { createHash } from 'node:crypto'

globalThis.__DEV__ = false
globalThis.secureStore ??= new Map()

export const openAuthSessionAsync = (...address) => globalThis.openAuthSession(...address)
export const dismissAuthSession = () => {}

export const getRandomValues = (bytes) => crypto.getRandomValues(bytes)
export const CryptoDigestAlgorithm = { SHA256: 'sha256' }
export const CryptoEncoding = { BASE64: 'base64' }
export const digestStringAsync = async (name, text, { encoding }) => createHash(name).update(text).digest(encoding)

export const getItemAsync = async (key) => globalThis.secureStore.get(key) ?? null
export const setItemAsync = async (key, value) => void globalThis.secureStore.set(key, value)
export const deleteItemAsync = async (key) => void globalThis.secureStore.delete(key)

export class CodedError extends Error {
  constructor(code, message) {
    super(message)
    this.code = code
  }
}
export const Platform = { OS: 'android', select: ({ android, native, default: other }) => android ?? native ?? other }
export const ExecutionEnvironment = {}
export default {}
