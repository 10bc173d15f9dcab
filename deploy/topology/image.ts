import { readDeployed } from './compose.ts'

/** Settings and command of the Dockerfile's last stage. */
export async function readImage() {
  const text = await readDeployed('../Dockerfile')
  const stage = text.slice(text.lastIndexOf('\nFROM '))
  const settings = /^ENV (.*)$/m
    .exec(stage)![1]!
    .split(' ')
    .map((one) => one.split('='))
  return {
    settings: Object.fromEntries(settings) as Record<string, string>,
    command: JSON.parse(/^CMD (.*)$/m.exec(stage)![1]!) as string[],
  }
}
