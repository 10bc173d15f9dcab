interface Cut {
  /** Undefined for a worker, which has none. */
  requests?: number
  deliveries: number
}

/** The last line of the log: what was in flight and did not end in time. */
export function stoppedLine({ requests, deliveries }: Cut): string {
  const namesDeliveries = requests === undefined || deliveries > 0
  const parts = [
    ...(requests === undefined ? [] : [`${requests} ${requests === 1 ? 'request' : 'requests'}`]),
    ...(namesDeliveries ? [`${deliveries} ${deliveries === 1 ? 'delivery' : 'deliveries'}`] : []),
  ]
  return `stopped, ${parts.join(' and ')} cut`
}
