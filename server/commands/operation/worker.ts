import { deliver } from '../../process/deliver.ts'
import type { Command } from '../line/command.ts'
import { program } from '../line/command.ts'

export const command: Command = {
  about: 'Delivers webhooks in a separate process until Ctrl-C, and logs as the service does.',
  actions: { '': program({ run: deliver }) },
  examples: ['worker'],
}
