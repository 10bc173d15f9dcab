/** In an order that spreads neighbours over the whole, the same each time. */
export function spread<T>(items: readonly T[]): T[] {
  const order = items.map((item, i) => ({ item, at: (i * 7_919) % 104_729 }))
  return order.sort((a, b) => a.at - b.at).map(({ item }) => item)
}
