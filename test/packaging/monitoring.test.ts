// What packaging/monitoring ships, by the tools of Prometheus: rules and scrape configuration are valid, alerts fire and resolve.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { parse, stringify } from 'yaml';
import { runToEnd } from '../fixtures/child.js';
import { repository } from '../fixtures/envoy-examples.js';
import { prometheusBinaries } from '../fixtures/prometheus-binaries.js';

const { promtool } = await prometheusBinaries();
const shipped = join(repository, 'packaging', 'monitoring');
const ruleFiles = ['agent-rules.yaml', 'ca-rules.yaml'].map((name) => join(shipped, name));

t.test('the rules are valid', async (t) => {
  const { code, stdout, stderr } = await runToEnd(promtool, ['check', 'rules', '--lint-fatal', ...ruleFiles]);
  t.equal(code, 0, { stdout, stderr });
});

for (const name of ['agent-rules', 'ca-rules']) {
  t.test(`alerts fire and resolve: ${name}`, async (t) => {
    const { code, stdout, stderr } = await runToEnd(promtool, [
      'test',
      'rules',
      join(repository, 'test', 'packaging', `${name}.test.yaml`),
    ]);
    t.equal(code, 0, { stdout, stderr });
  });
}

t.test('each alert is tested', (t) => {
  const names = (text: string, key: string): string[] => [...text.matchAll(new RegExp(`${key}: (\\w+)`, 'g'))].map(([, name = '']) => name);
  for (const file of ['agent-rules', 'ca-rules']) {
    const tested = new Set(names(readFileSync(join(repository, 'test', 'packaging', `${file}.test.yaml`), 'utf8'), 'alertname'));
    t.strictSame([...tested].sort(), names(readFileSync(join(shipped, `${file}.yaml`), 'utf8'), '- alert').sort());
  }
  t.end();
});

t.test('the scrape configuration is valid', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'signet-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const { scrape_configs: jobs } = parse(readFileSync(join(shipped, 'scrape.yaml'), 'utf8')) as {
    scrape_configs: Record<string, unknown>[];
  };
  const file = join(directory, 'prometheus.yml');
  // Debian's Prometheus does not know `kubernetes_sd_configs`.
  const here = jobs.map((job) => ({ ...job, kubernetes_sd_configs: undefined, static_configs: [{ targets: ['127.0.0.1:9470'] }] }));
  writeFileSync(file, stringify({ scrape_configs: here, rule_files: ruleFiles }));
  const { code, stdout, stderr } = await runToEnd(promtool, ['check', 'config', file]);
  t.equal(code, 0, { stdout, stderr });
});
