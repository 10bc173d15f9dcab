/** What Prometheus reads: the value of each series, by `name{labels}` as it is written. */
export function parseSamples(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]))
}

/** The names that are announced, also of metrics without a series. */
export const listNames = (text: string) => [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name!)
