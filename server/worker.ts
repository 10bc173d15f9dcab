import './process/node-version.ts'
import './process/navigator.ts'

const { deliver } = await import('./process/deliver.ts')

await deliver()
