// Rules and dashboard use what exists: metrics of docs/metrics.md, reasons of docs/reasons.md, a runbook for each alert. What the
// rules do is tested with promtool (`npm run test:packaging`).

import { readFileSync, readdirSync } from 'node:fs';
import t from 'tap';
import { parse } from 'yaml';

interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

const read = (path: string): string => readFileSync(path, 'utf8');

const rules = ['agent-rules.yaml', 'ca-rules.yaml'].flatMap((name) => {
  const file = parse(read(`packaging/monitoring/${name}`)) as { readonly groups: readonly { readonly rules: readonly Rule[] }[] };
  return file.groups.flatMap((group) => group.rules);
});
const alerts = rules.filter((rule) => rule.alert !== undefined);

const dashboard = JSON.parse(read('packaging/monitoring/dashboard.json')) as {
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[];
};

/** First cells of the tables of a page. */
const namesIn = (page: string): Set<string> => new Set([...read(page).matchAll(/^\| `([^`]+)` \|/gm)].map(([, name = '']) => name));

const metrics = namesIn('docs/metrics.md');
const histograms = [...read('docs/metrics.md').matchAll(/^\| `([^`]+)` \| histogram/gm)].map(([, name = '']) => name);
const known = new Set([
  ...metrics,
  ...histograms.flatMap((name) => ['bucket', 'sum', 'count'].map((part) => `${name}_${part}`)),
  ...rules.flatMap(({ record }) => record ?? []),
  // Of Prometheus itself.
  'up',
]);

/** Names of series: words with an underscore or colon that stand in no label matcher, and `up`. */
function seriesIn(expr: string): string[] {
  const bare = expr.replaceAll(/\{[^}]*\}/g, '').replaceAll(/\b(by|without|on|ignoring)\s*\([^)]*\)/g, '');
  return [...bare.matchAll(/\b[a-z]\w*(?::\w+)*\b/g)]
    .map(([word]) => word)
    .filter((word) => /[_:]|^up$/.test(word) && !functions.has(word));
}
const functions = new Set(['histogram_quantile']);

t.test('rules and dashboard use metrics that exist', (t) => {
  const panels = dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ of: title, expr })));
  for (const { of, expr } of [...rules.map((rule) => ({ of: rule.alert ?? rule.record ?? '', expr: rule.expr })), ...panels]) {
    const series = seriesIn(expr);
    t.ok(series.length > 0, of);
    t.strictSame(
      series.filter((name) => !known.has(name)),
      [],
      of,
    );
  }
  t.end();
});

t.test('rules name reasons that exist', (t) => {
  const reasons = namesIn('docs/reasons.md');
  const named = rules.flatMap(({ expr }) => [...expr.matchAll(/reason=~?"([^"]*)"/g)].flatMap(([, list = '']) => list.split('|')));
  t.ok(named.length > 20);
  t.strictSame(
    named.filter((reason) => !reasons.has(reason)),
    [],
  );
  t.end();
});

t.test('each alert has its runbook, a severity and a summary, and each runbook its alert', (t) => {
  const pages = new Map(alerts.map(({ alert, annotations }) => [annotations?.['runbook_url'], alert]));
  t.equal(pages.size, alerts.length);
  const shipped = readdirSync('docs/runbooks').filter((name) => name !== 'README.md');
  t.strictSame([...pages.keys()].sort(), shipped.map((name) => `docs/runbooks/${name}`).sort());
  const index = read('docs/runbooks/README.md');
  for (const [page = '', alert = ''] of pages) {
    t.ok(read(page).startsWith(`# ${alert}\n`), page);
    t.match(index, `[${alert}](${page.slice('docs/runbooks/'.length)})`);
  }
  for (const { alert = '', labels, annotations } of alerts) {
    t.match(labels?.['severity'], /^(critical|warning)$/, alert);
    t.ok(annotations?.['summary'], alert);
  }
  t.end();
});
