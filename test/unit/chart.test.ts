import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { renderChart } from '../support/chart.ts'

const chart = join(import.meta.dirname, '../../deploy/helm/member-apps-api')
const render = (values?: Parameters<typeof renderChart>[1]) => renderChart(chart, values)
const kinds = (resources: ReturnType<typeof render>) =>
  resources.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort()
const only = (resources: ReturnType<typeof render>, kind: string, name: string) =>
  resources.find((one) => one.kind === kind && one.metadata.name === name)
/** The pod of a Deployment, a Job or a CronJob. */
const findPod = ({ spec }: ReturnType<typeof render>[number]) => (spec.jobTemplate?.spec ?? spec).template

const names = [
  'CronJob release-clean',
  'Deployment release',
  'Deployment release-worker',
  'Job release-migrate',
  'NetworkPolicy release',
  'NetworkPolicy release-internal',
  'NetworkPolicy release-public',
  'PodDisruptionBudget release',
  'Service release',
  'Service release-internal',
]

describe('the Helm chart', () => {
  it('has nodes, a worker, Services, migration, clean-up, policies and a disruption budget, and a monitor when asked', () => {
    expect(kinds(render())).toEqual(names)
    const monitored = render((values) => {
      values.serviceMonitor.enabled = true
    })
    expect(kinds(monitored)).toEqual([...names, 'Service release-worker', 'ServiceMonitor release'].sort())
  })

  it('runs every pod as the user of the image, confined, with the settings and the Secret', () => {
    const pods = render((values) => {
      values.settings = { BRAND: 'yes', STORAGE_QUOTA_BYTES: '5' }
      values.image.tag = '7'
    })
      .filter(({ kind }) => ['Deployment', 'Job', 'CronJob'].includes(kind))
      .map(findPod)
    expect(pods).toHaveLength(4)
    for (const { spec } of pods) {
      const [container] = spec.containers
      expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 10001 })
      expect(container.securityContext).toMatchObject({
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
      })
      expect(container.image).toBe('member-apps-api:7')
      expect(container.envFrom).toEqual([{ secretRef: { name: 'member-apps-api' } }])
      expect(container.env).toEqual([
        { name: 'BRAND', value: 'yes' },
        { name: 'STORAGE_QUOTA_BYTES', value: '5' },
        { name: 'NODES', value: '2' },
        { name: 'MIGRATE_ON_START', value: 'false' },
        { name: 'WEBHOOK_WORKER', value: 'false' },
      ])
    }
  })

  it('selects with each Service and with the budget the pods that are meant', () => {
    const resources = render()
    const matches = (selector: object, { metadata }: ReturnType<typeof findPod>) =>
      Object.entries(selector).every(([name, value]) => metadata.labels[name] === value)
    const pods = resources.filter(({ kind }) => ['Deployment', 'Job', 'CronJob'].includes(kind))
    const selected = (selector: object) =>
      pods.filter((one) => matches(selector, findPod(one))).map((one) => one.metadata.name)
    const findSelector = (kind: string, name: string) => {
      const { selector } = only(resources, kind, name).spec
      return selector.matchLabels ?? selector
    }
    expect(selected(findSelector('Service', 'release'))).toEqual(['release'])
    expect(selected(findSelector('Service', 'release-internal'))).toEqual(['release'])
    expect(selected(findSelector('PodDisruptionBudget', 'release'))).toEqual(['release'])
    expect(selected(findSelector('Deployment', 'release'))).toEqual(['release'])
    expect(selected(findSelector('Deployment', 'release-worker'))).toEqual(['release-worker'])
    const ports = findPod(only(resources, 'Deployment', 'release')).spec.containers[0].ports
    expect(ports).toEqual([
      { name: 'public', containerPort: 3000 },
      { name: 'internal', containerPort: 3001 },
    ])
  })

  it('lets everybody connect to the port for apps, and only the named sources to the internal ports', () => {
    const policy = (resources: ReturnType<typeof render>, name: string) => only(resources, 'NetworkPolicy', name)?.spec
    const labels = { 'app.kubernetes.io/name': 'member-apps-api', 'app.kubernetes.io/instance': 'release' }
    const node = { ...labels, 'app.kubernetes.io/component': 'node' }
    const policyTypes = ['Ingress']
    const resources = render()
    expect(policy(resources, 'release')).toEqual({ podSelector: { matchLabels: labels }, policyTypes })
    expect(policy(resources, 'release-public')).toEqual({
      podSelector: { matchLabels: node },
      policyTypes,
      ingress: [{ ports: [{ port: 3000 }] }],
    })
    expect(policy(resources, 'release-internal')).toEqual({
      podSelector: { matchLabels: labels },
      policyTypes,
      ingress: [{ ports: [{ port: 3001 }], from: [{ podSelector: {} }] }],
    })
    // An empty `from` would let everybody in.
    const closed = render((values) => {
      values.networkPolicy.internalFrom = []
    })
    expect(policy(closed, 'release-internal')).toBeUndefined()
    const without = render((values) => {
      values.networkPolicy.enabled = false
    })
    expect(kinds(without).filter((name) => name.startsWith('NetworkPolicy'))).toEqual([])
  })

  it('migrates before an installation and before an upgrade', () => {
    const { metadata } = only(render(), 'Job', 'release-migrate')
    expect(metadata.annotations['helm.sh/hook']).toBe('pre-install,pre-upgrade')
  })

  it('leaves a node in its Service while the database is away, so that the answer is the one of the service', () => {
    const [node] = findPod(only(render(), 'Deployment', 'release')).spec.containers
    expect(node.readinessProbe.httpGet).toEqual({ path: '/readyz?exclude=database', port: 'internal' })
    expect(node.livenessProbe.httpGet.path).toBe('/healthz')
  })

  it('gives a node the time for its drain, the requests in flight and the last resort', () => {
    const { spec } = findPod(only(render(), 'Deployment', 'release'))
    const [drain] = spec.containers[0].env.filter(({ name }: { name: string }) => name === 'DRAIN_SECONDS')
    const { periodSeconds, failureThreshold } = spec.containers[0].readinessProbe
    expect(Number(drain.value)).toBeGreaterThan(periodSeconds * failureThreshold)
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(Number(drain.value) + 8 + 1.5)
  })
})
