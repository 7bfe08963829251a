import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ScheduledBackups } from '../../src/ops/server/scheduled-backups.js';
import { LEADS } from '../../src/testing/factories.js';
import { TestApp } from '../../src/testing/test-app.js';
import { type Exposition, metricOf, parseExposition } from '../support/exposition.js';
import { until } from '../support/servers/product.js';

const read = (file: string) => readFileSync(path.join(process.cwd(), file), 'utf8');

const ROW = /^\| `(\w+)` +\| (\w+) +\| ([^|]*)\|/gm;
const stated = Array.from(
  read('docs/operating/metrics.md').matchAll(ROW),
  ([, name = '', type = '', labels = '']) => {
    return { name, type, labels: Array.from(labels.matchAll(/`(\w+)`/g), ([, label]) => label!) };
  },
);
const labelsOf = new Map(stated.map(({ name, labels }) => [name, labels]));

let exposed: Exposition;
beforeAll(async () => {
  const settings = {
    // Metrics of replicas are exposed if there are some, also if they cannot be reached.
    databaseReplicaUrls: ['postgres://nobody@127.0.0.1:1/none'],
    // Those of sign-ins are exposed with OAUTH.
    oauth: true,
    publicUrl: 'http://127.0.0.1:3000',
  };
  const app = await TestApp.start({ settings });
  // Those of scheduled backups are exposed with BACKUP_DIR.
  const plan = { directory: 'none' };
  new ScheduledBackups(app.app, app.database, plan, new AbortController().signal);
  await app.client().get(LEADS);
  await until(async () => {
    exposed = parseExposition(await (await fetch(`${app.url}/metrics`)).text());
    return exposed.samples.some(({ labels }) => labels.route === LEADS);
  });
  await app.stop();
});

describe('docs/operating/metrics.md', () => {
  it('states each metric with its type', () => {
    const rows = stated.map(({ name, type }) => [name, type]);
    expect(rows.sort()).toEqual([...exposed.types].sort());
  });

  it('states the labels of each metric', () => {
    for (const sample of exposed.samples) {
      const { le: _, ...labels } = sample.labels;
      expect([sample.name, labelsOf.get(metricOf(sample, exposed))?.toSorted()]).toEqual([
        sample.name,
        Object.keys(labels).sort(),
      ]);
    }
  });
});

const SELECTOR = /\b((?:latitude|http|process|nodejs)_\w+)(?:\{([^{}]*)\})?/g;
const MATCHER = /(\w+)(=~?|![=~])"([^"]*)"/g;

/** The labels that Prometheus adds. It renames a label `job` of ours. */
const OF_PROMETHEUS = new Set(['job', 'instance', 'exported_job', 'le']);

/** What `files` select of metrics: the name, and the labels with their conditions. */
function selectorsIn(text: string) {
  return Array.from(text.matchAll(SELECTOR), ([, name = '', matchers = '']) => ({
    name,
    matchers: Array.from(matchers.matchAll(MATCHER), ([, label = '', operator, value = '']) => {
      return { label, operator, value };
    }).filter(({ label }) => !OF_PROMETHEUS.has(label)),
  }));
}

/** The queries of the dashboard, and those of the alerts without what is not a query. */
const QUERIES = [
  ['docker/grafana/latitude.json', dashboardQueries()],
  ['docker/prometheus/alerts.yml', read('docker/prometheus/alerts.yml').replace(/#.*$/gm, '')],
] as const;

function dashboardQueries(): string {
  const dashboard = JSON.parse(read('docker/grafana/latitude.json')) as {
    panels: { targets?: { expr: string }[] }[];
    templating: { list: { definition?: string }[] };
  };
  const ofPanels = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  const ofVariables = dashboard.templating.list.map(({ definition = '' }) => definition);
  return [...ofPanels, ...ofVariables].join('\n');
}

describe.each(QUERIES)('%s', (_, queries) => {
  it('selects only metrics and labels that exist', () => {
    const selectors = selectorsIn(queries);
    expect(selectors.length).toBeGreaterThan(15);
    for (const { name, matchers } of selectors) {
      const metric = metricOf({ name }, exposed);
      expect([...exposed.types.keys()]).toContain(metric);
      const labels = matchers.map(({ label }) => label);
      expect([name, labelsOf.get(metric)]).toEqual([name, expect.arrayContaining(labels)]);
    }
  });

  it('selects values that counters of Latitude have from the start', () => {
    for (const { name, matchers } of selectorsIn(queries)) {
      const samples = exposed.samples.filter((sample) => sample.name === name);
      if (!name.startsWith('latitude_') || samples.length === 0) continue;
      const selected = samples.filter(({ labels }) => {
        return matchers.every(({ label, operator, value }) => {
          return operator!.startsWith('!') || new RegExp(`^(${value})$`).test(labels[label]!);
        });
      });
      expect([name, matchers, selected.length > 0]).toEqual([name, matchers, true]);
    }
  });

  it('groups only by labels that exist', () => {
    const known = new Set([...labelsOf.values()].flat().concat(...OF_PROMETHEUS));
    const grouped = queries.matchAll(/\b(?:by|on) \(([\w, ]+)\)/g);
    const labels = Array.from(grouped, ([, names = '']) => names.split(', ')).flat();
    expect(labels.length).toBeGreaterThan(5);
    expect(labels.filter((label) => !known.has(label))).toEqual([]);
  });
});

describe('docs/operating/alerts.md', () => {
  it('states each alert with its severity and its entry in the runbook', () => {
    const rule = /alert: (\w+)[^]*?severity: (\w+)[^]*?runbook: docs\/operating\/(\S+)/g;
    const row = /^\| `(\w+)` +\| (\w+) +\|[^|]*\| \[[^\]]+\]\(([^)]+)\)/gm;
    const rules = Array.from(read('docker/prometheus/alerts.yml').matchAll(rule), partsOf);
    const rows = Array.from(read('docs/operating/alerts.md').matchAll(row), partsOf);
    expect(rows.length).toBeGreaterThan(15);
    expect(rows).toEqual(rules);
  });

  it('is about alerts that each have a test', () => {
    const names = (file: string, pattern: RegExp) => {
      return [...new Set(Array.from(read(file).matchAll(pattern), ([, name]) => name))];
    };
    const rules = names('docker/prometheus/alerts.yml', /alert: (\w+)/g);
    const fired = /alertname: (\w+)\n +exp_alerts:/g;
    expect(names('docker/prometheus/alerts.test.yml', fired)).toEqual(rules);
  });
});

function partsOf([, ...parts]: RegExpMatchArray): string[] {
  return parts;
}
