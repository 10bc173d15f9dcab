/** The lines of a search index: a word and its sections. Each word lacks what it shares with the one before. */
export function indexLines({ words }: { words: string }): string[] {
  let word = ''
  return words.split(',').map((line) => {
    const [first = '', ...sections] = line.split(' ')
    word = word.slice(0, Number.parseInt(first.charAt(0), 36)) + first.slice(1)
    return [word, ...sections].join(' ')
  })
}
