import { readFileSync } from 'node:fs';
import path from 'node:path';
import { LEADS } from '../../src/testing/factories.js';
import { TestApp } from '../../src/testing/test-app.js';
import { type Exposition, metricOf, parseExposition } from '../support/exposition.js';
import { until } from '../support/servers/product.js';

const ROW = /^\| `(\w+)` +\| (\w+) +\| ([^|]*)\|/gm;

let exposed: Exposition;
beforeAll(async () => {
  // Metrics of replicas are exposed if there are some, also if they cannot be reached.
  const settings = { databaseReplicaUrls: ['postgres://nobody@127.0.0.1:1/none'] };
  const app = await TestApp.start({ settings });
  await app.client().get(LEADS);
  await until(async () => {
    exposed = parseExposition(await (await fetch(`${app.url}/metrics`)).text());
    return exposed.samples.some(({ labels }) => labels.route === LEADS);
  });
  await app.stop();
});

describe('docs/operating/metrics.md', () => {
  const page = readFileSync(path.join(process.cwd(), 'docs/operating/metrics.md'), 'utf8');
  const stated = Array.from(page.matchAll(ROW), ([, name = '', type = '', labels = '']) => {
    return { name, type, labels: Array.from(labels.matchAll(/`(\w+)`/g), ([, label]) => label) };
  });

  it('states each metric with its type', () => {
    const rows = stated.map(({ name, type }) => [name, type]);
    expect(rows.sort()).toEqual([...exposed.types].sort());
  });

  it('states the labels of each metric', () => {
    const labelsOf = new Map(stated.map(({ name, labels }) => [name, labels]));
    for (const sample of exposed.samples) {
      const { le: _, ...labels } = sample.labels;
      expect([sample.name, labelsOf.get(metricOf(sample, exposed))?.toSorted()]).toEqual([
        sample.name,
        Object.keys(labels).sort(),
      ]);
    }
  });
});
