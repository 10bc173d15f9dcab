import './process/node-version.ts'

const { deliver } = await import('./process/deliver.ts')

await deliver()
