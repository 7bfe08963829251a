// Checks docker/kubernetes: each manifest by the schema of its kind, and the manifests against each other. The schemas
// allow unknown fields, the types for TypeScript do not.
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
import { ROOT } from '../server.mjs';

const FOLDER = path.join(ROOT, 'docker/kubernetes');
const KUSTOMIZATION = 'kustomization.yaml';

/** A manifest that only clusters with the Prometheus operator accept. */
const OPTIONAL = 'service-monitor.yaml';

/** @returns what is wrong with the manifests */
export async function problemsOfManifests() {
  const files = readdirSync(FOLDER).filter((name) => name !== KUSTOMIZATION);
  const manifests = files.flatMap((name) =>
    documentsOf(name).map((manifest) => ({ name, manifest })),
  );
  const byName = Object.fromEntries(manifests.map(({ name, manifest }) => [name, manifest]));
  return [
    ...(await problemsBySchema(manifests)),
    ...problemsByTypes(manifests),
    ...problemsOfKustomization(documentsOf(KUSTOMIZATION)[0], files),
    ...problemsOfLabels(byName),
    ...(await problemsOfPods(byName)),
  ];
}

function documentsOf(name) {
  const documents = parseAllDocuments(readFileSync(path.join(FOLDER, name), 'utf8'));
  return documents.map((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    return document.toJS();
  });
}

/** The module that exports the class and the interface of a kind. */
function moduleOf({ apiVersion, kind }) {
  const isOfOperator = apiVersion.startsWith('monitoring.coreos.com/');
  const name = isOfOperator ? '@kubernetes-models/prometheus-operator' : 'kubernetes-models';
  return `${name}/${apiVersion}/${kind}`;
}

async function problemsBySchema(manifests) {
  const problems = [];
  for (const { name, manifest } of manifests) {
    const { [manifest.kind]: Model } = await import(moduleOf(manifest));
    try {
      new Model(manifest).validate();
    } catch ({ message }) {
      problems.push(`${name}: ${message}`);
    }
  }
  return problems;
}

/** Compiles the manifests as constants. */
function problemsByTypes(manifests) {
  const ts = createRequire(path.join(ROOT, 'package.json'))('typescript');
  const lines = manifests.flatMap(({ manifest }, n) => [
    `import type { I${manifest.kind} as Kind${n} } from '${moduleOf(manifest)}';`,
    `export const manifest${n}: Kind${n} = ${JSON.stringify(manifest)};`,
  ]);
  const file = path.join(import.meta.dirname, 'manifests.ts');
  const options = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    module: ts.ModuleKind.Node16,
    target: ts.ScriptTarget.ES2022,
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  host.fileExists = (name) => name === file || fileExists(name);
  host.readFile = (name) => (name === file ? lines.join('\n') : readFile(name));
  host.getSourceFile = (name, ...rest) =>
    name === file
      ? ts.createSourceFile(name, lines.join('\n'), options.target)
      : getSourceFile(name, ...rest);
  const diagnostics = ts.getPreEmitDiagnostics(ts.createProgram([file], options, host));
  return diagnostics.map(({ file: source, start, messageText }) => {
    const line = source ? source.getLineAndCharacterOfPosition(start).line : 0;
    const name = manifests[Math.floor(line / 2)].name;
    return `${name}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
  });
}

function problemsOfKustomization({ resources }, files) {
  const expected = files.filter((name) => name !== OPTIONAL).sort();
  const isSame = [...resources].sort().join() === expected.join();
  return isSame ? [] : [`${KUSTOMIZATION} does not list exactly ${expected.join()}`];
}

/** Each selector has to match the labels of the instances. */
function problemsOfLabels(manifests) {
  const { labels } = manifests['deployment.yaml'].spec.template.metadata;
  const selectors = {
    'deployment.yaml': manifests['deployment.yaml'].spec.selector.matchLabels,
    'service.yaml': manifests['service.yaml'].spec.selector,
    'disruption-budget.yaml': manifests['disruption-budget.yaml'].spec.selector.matchLabels,
    'network-policy.yaml': manifests['network-policy.yaml'].spec.podSelector.matchLabels,
  };
  const matches = (selector, of) =>
    Object.entries(selector).every(([key, value]) => of[key] === value);
  const problems = Object.entries(selectors)
    .filter(([, selector]) => !matches(selector, labels))
    .map(([name]) => `${name} selects other pods than those of the instances`);
  const migration = manifests['migration.yaml'].spec.template.metadata.labels;
  if (matches(selectors['service.yaml'], migration))
    problems.push('service.yaml selects the migration');
  const monitored = manifests[OPTIONAL].spec.selector.matchLabels;
  if (!matches(monitored, manifests['service.yaml'].metadata.labels))
    problems.push(`${OPTIONAL} selects no service`);
  return problems;
}

/** Ports have to exist, variables to be settings, and their files to be mounted. */
async function problemsOfPods(manifests) {
  const { SETTING_NAMES } = await import(path.join(ROOT, 'dist/src/platform/config/settings.js'));
  const problems = [];
  const expectThat = (isTrue, problem) => isTrue || problems.push(problem);
  for (const name of ['deployment.yaml', 'migration.yaml']) {
    const [container] = manifests[name].spec.template.spec.containers;
    const mounts = container.volumeMounts.map(({ mountPath }) => mountPath);
    for (const { name: variable, value } of container.env) {
      expectThat(SETTING_NAMES.includes(variable), `${name} has the unknown setting ${variable}`);
      const isMounted = !variable.endsWith('_FILE') || mounts.includes(path.dirname(value));
      expectThat(isMounted, `${name} does not mount the file of ${variable}`);
    }
  }
  const [instance] = manifests['deployment.yaml'].spec.template.spec.containers;
  const ports = instance.ports.map(({ name }) => name);
  const { metrics, http } = Object.fromEntries(
    instance.ports.map(({ name, containerPort }) => [name, String(containerPort)]),
  );
  const metricsPort = instance.env.find(({ name }) => name === 'METRICS_PORT')?.value;
  expectThat(
    http === '3000' && metrics === metricsPort,
    'deployment.yaml has other ports than its settings',
  );
  const probes = [instance.startupProbe, instance.livenessProbe, instance.readinessProbe];
  const used = [
    ...probes.map(({ httpGet }) => httpGet.port),
    ...manifests['service.yaml'].spec.ports.map(({ targetPort }) => targetPort),
    ...manifests['network-policy.yaml'].spec.ingress.flatMap((rule) =>
      rule.ports.map(({ port }) => port),
    ),
    ...manifests[OPTIONAL].spec.endpoints.map(({ port }) => port),
  ];
  for (const port of used) expectThat(ports.includes(port), `deployment.yaml has no port ${port}`);
  return problems;
}
