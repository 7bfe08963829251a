import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const read = (file: string) => readFileSync(path.join(process.cwd(), file), 'utf8');
const namesIn = (text: string, pattern: RegExp) =>
  Array.from(text.matchAll(pattern), ([, name]) => name!);

const PARTS = ['Symptom', 'Metric', 'Check', 'Remedy', 'Test'] as const;

/** The entries of the runbook by the anchors of their headings, each with its parts. */
const entries = read('docs/operating/runbook.md')
  .split(/^## /m)
  .slice(1)
  .map((text) => {
    const [heading = '', ...lines] = text.split('\n');
    const parts = lines.join('\n').split(/^\*\*(\w+)\.\*\*\s/m);
    return {
      anchor: heading.toLowerCase().replaceAll(' ', '-'),
      names: parts.filter((_, index) => index % 2 === 1),
      parts: Object.fromEntries(
        parts.slice(1).map((part, index, all) => [part, all[index + 1]]),
      ) as Record<(typeof PARTS)[number], string>,
    };
  });

const ALERTS = new Map(
  Array.from(
    read('docker/prometheus/alerts.yml').matchAll(/alert: (\w+)[^]*?runbook: \S+#(\S+)/g),
    ([, alert, anchor]) => [alert!, anchor!],
  ),
);
const METRICS = namesIn(read('docs/operating/metrics.md'), /^\| `(\w+)`/gm);
const CHECKS = namesIn(read('docs/operating/doctor.md'), /^\| `(\w+)`/gm);

it('the runbook has fifteen entries', () => {
  expect(entries).toHaveLength(15);
});

it('each alert is in the entry of the runbook that it names', () => {
  const named = entries.flatMap(({ anchor, parts }) =>
    namesIn(parts.Metric, /`(Latitude\w+)`/g).map((alert) => [alert, anchor]),
  );
  for (const [alert, anchor] of ALERTS) expect(named).toContainEqual([alert, anchor]);
  expect(named.filter(([alert]) => !ALERTS.has(alert!))).toEqual([]);
});

describe.each(entries)('$anchor', ({ anchor, names, parts }) => {
  it('has a symptom, a metric, a check, a remedy and a test', () => {
    expect(names).toEqual(PARTS);
  });

  it('names metrics that exist', () => {
    const metrics = namesIn(parts.Metric, /`((?:latitude|http|process|nodejs)_\w+)/g);
    expect(metrics.length + namesIn(parts.Metric, /`(Latitude\w+)`/g).length).toBeGreaterThan(0);
    const missing = metrics.map((name) => name.replace(/_count$/, ''));
    expect(missing.filter((name) => !METRICS.includes(name))).toEqual([]);
  });

  it('names checks of doctor that exist', () => {
    const [, named = ''] = /`latitude doctor`:\s([^.:]+)/.exec(parts.Check) ?? [];
    const checks = namesIn(named, /`(\w+)`/g);
    if (parts.Check.includes('latitude doctor')) expect(checks).not.toEqual([]);
    expect(checks.filter((name) => !CHECKS.includes(name))).toEqual([]);
  });

  it('names tests that break it, and that say so', () => {
    const tests = namesIn(parts.Test, /`(test\/\S+)`/g);
    expect(tests).not.toEqual([]);
    const silent = tests.filter(
      (file) => !existsSync(file) || !read(file).includes(`docs/operating/runbook.md#${anchor}`),
    );
    expect(silent).toEqual([]);
  });
});
