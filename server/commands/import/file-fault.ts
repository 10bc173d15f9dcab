/** Nothing in the file can be read from this line on. The message does not include the file and the line. */
export class FileFault extends Error {
  readonly line: number

  constructor(line: number, message: string) {
    super(message)
    this.line = line
  }
}

export const emptyFile = () =>
  new FileFault(1, 'It is empty. A file without rows has a header in CSV, and the line {"rows": 0} in NDJSON.')
