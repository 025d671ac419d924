// A real Prometheus with the shipped scrape configuration and rules, an agent and a CA: all metrics of docs/metrics.md arrive, rules and
// dashboard can be evaluated, and nothing fires.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import { parse, stringify } from 'yaml';
import { startAuthority } from '../../agent/authority/server.js';
import { loadCaConfig } from '../../agent/config.js';
import { systemClock } from '../../agent/runtime/time.js';
import { podsOf, startTestAgent } from '../fixtures/agent.js';
import { apiList, createApiServer } from '../fixtures/api-server.js';
import { startChild } from '../fixtures/child.js';
import { writeKubeconfig } from '../fixtures/cluster-credentials.js';
import { repository } from '../fixtures/envoy-examples.js';
import { freePorts } from '../fixtures/free-ports.js';
import { prometheusBinaries } from '../fixtures/prometheus-binaries.js';
import { until, untilRunning } from '../fixtures/until.js';

const waitMs = 60_000;
const shipped = join(repository, 'packaging', 'monitoring');

function temporary(t: Test): string {
  const directory = mkdtempSync(join(tmpdir(), 'signet-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

interface Address {
  readonly host: string;
  readonly port: number;
}

const httpOf = async (server: { readonly http: { readonly value: Address | undefined } }): Promise<string> => {
  const { host, port } = await until('the http address', waitMs, () => server.http.value);
  return `${host}:${port}`;
};

async function startAgent(t: Test): Promise<string> {
  const running = await startTestAgent({ pods: podsOf('web') });
  t.teardown(() => running.stop());
  return httpOf(running.agent);
}

/** With an issuer of its own, and a cluster without pods. */
async function startCa(t: Test): Promise<string> {
  const directory = temporary(t);
  const file = (name: string): string => join(directory, name);
  const server = await createApiServer(t, (call) => {
    if (call.query['watch'] === undefined) call.json(apiList([]));
    else if (call.query['sendInitialEvents'] !== undefined) call.status(422, 'not served');
    else call.stream();
  });
  writeFileSync(file('api.crt'), server.ca);
  const config = {
    trustDomain: 'example.org',
    kubeconfig: writeKubeconfig(file('kubeconfig'), { url: server.url.href, caFile: file('api.crt') }, { token: 'ours' }),
    listen: { address: '127.0.0.1:0', names: ['localhost'] },
    http: { address: '127.0.0.1:0' },
    state: { directory: file('state') },
  };
  writeFileSync(file('ca.yaml'), JSON.stringify(config));
  const loaded = loadCaConfig({ file: file('ca.yaml'), env: {} });
  const authority = await startAuthority({ loaded, clock: systemClock, env: {}, writeOutput: () => {}, writeLog: () => {} });
  const end = new AbortController();
  const running = authority.run(end.signal);
  t.teardown(async () => {
    end.abort();
    await running;
  });
  return httpOf(authority);
}

type Ask = <T>(path: string, query?: Readonly<Record<string, string>>) => Promise<T>;

/** Each job has the target that is named, as if discovery had found it in a pod of that app. */
async function startPrometheus(t: Test, targets: Readonly<Record<string, string>>): Promise<Ask> {
  const directory = temporary(t);
  const { scrape_configs: jobs } = parse(readFileSync(join(shipped, 'scrape.yaml'), 'utf8')) as {
    readonly scrape_configs: readonly { readonly job_name: string }[];
  };
  const found = Object.entries(targets).map(([app, target]) => ({
    targets: [target],
    labels: {
      __meta_kubernetes_pod_container_port_name: 'http-metrics',
      __meta_kubernetes_pod_label_app: app,
      __meta_kubernetes_namespace: 'signet-system',
      __meta_kubernetes_pod_name: `${app}-1`,
      __meta_kubernetes_pod_node_name: 'node-a',
    },
  }));
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    // Debian's Prometheus does not know `kubernetes_sd_configs`. The relabelling leaves each job its own target.
    scrape_configs: jobs.map((job) => ({ ...job, kubernetes_sd_configs: undefined, static_configs: found })),
    rule_files: ['agent-rules.yaml', 'ca-rules.yaml'].map((name) => join(shipped, name)),
  };
  const file = join(directory, 'prometheus.yml');
  writeFileSync(file, stringify(config));
  const [port] = await freePorts(1);
  const child = startChild({
    name: 'prometheus',
    command: (await prometheusBinaries()).prometheus,
    args: [`--config.file=${file}`, `--storage.tsdb.path=${join(directory, 'data')}`, `--web.listen-address=127.0.0.1:${port}`],
    cwd: directory,
  });
  t.teardown(() => child.stop());
  const ask: Ask = async <T>(path: string, query = {}) => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${path}?${new URLSearchParams(query)}`);
    const { status, data, error } = (await answer.json()) as { readonly status: string; readonly data: T; readonly error?: string };
    if (status !== 'success') throw new Error(`prometheus: ${path} ${JSON.stringify(query)}: ${error}`);
    return data;
  };
  await untilRunning(child, 'prometheus answers', async () => (await ask('targets')) !== undefined);
  return ask;
}

/** Help by name, from the sections of the page. */
function documented(...sections: readonly string[]): Record<string, string> {
  const page = readFileSync(join(repository, 'docs', 'metrics.md'), 'utf8');
  const parts = page.split(/^## /m).filter((part) => sections.some((section) => part.startsWith(`${section}\n`)));
  const rows = parts.flatMap((part) => [...part.matchAll(/^\| `([^`]+)` \| \w+ \| .* ?\| ([^|]*) \|$/gm)]);
  return Object.fromEntries(rows.map(([, name = '', help = '']) => [name, help]));
}

function sharedWithCa(): Record<string, string> {
  const [, list = ''] = /^Beside (.*):$/m.exec(readFileSync(join(repository, 'docs', 'metrics.md'), 'utf8')) ?? [];
  const all = documented('Signet');
  return Object.fromEntries([...list.matchAll(/`([^`]+)`/g)].map(([, name = '']) => [name, all[name] ?? '']));
}

t.test('Prometheus with all that is shipped', async (t) => {
  const targets = { 'signet-agent': await startAgent(t), 'signet-ca': await startCa(t) };
  const ask = await startPrometheus(t, targets);

  interface Target {
    readonly health: string;
    readonly labels: Readonly<Record<string, string>>;
  }
  const { activeTargets } = await until('both targets are scraped', waitMs, async () => {
    const found = await ask<{ readonly activeTargets: readonly Target[] }>('targets');
    return found.activeTargets.length > 1 && found.activeTargets.every(({ health }) => health === 'up') && found;
  });
  const labelsOf = (job: keyof typeof targets) => ({
    job,
    instance: targets[job],
    namespace: 'signet-system',
    pod: `${job}-1`,
    node: 'node-a',
  });
  const labels = new Map(activeTargets.map((target) => [target.labels['job'], target.labels]));
  t.equal(activeTargets.length, 2);
  for (const job of ['signet-agent', 'signet-ca'] as const) t.strictSame(labels.get(job), labelsOf(job));

  for (const [job, metrics] of [
    ['signet-agent', documented('Signet', 'Process')],
    ['signet-ca', { ...sharedWithCa(), ...documented('signet ca', 'Process') }],
  ] as const) {
    const metadata = await ask<readonly { readonly metric: string; readonly help: string }[]>('targets/metadata', {
      match_target: `{job="${job}"}`,
    });
    const seen = Object.fromEntries(metadata.map(({ metric, help }) => [metric, help]));
    t.ok(Object.keys(metrics).length > 40, job);
    t.strictSame(seen, metrics, job);
  }

  interface Rule {
    readonly name: string;
    readonly health: string;
    readonly state?: string;
  }
  const rules = await until('all rules are evaluated', waitMs, async () => {
    const { groups } = await ask<{ readonly groups: readonly { readonly rules: readonly Rule[] }[] }>('rules');
    const all = groups.flatMap((group) => group.rules);
    return all.length > 0 && all.every(({ health }) => health !== 'unknown') && all;
  });
  t.strictSame(
    rules.filter(({ health, state }) => health !== 'ok' || state === 'firing'),
    [],
  );

  const dashboard = JSON.parse(readFileSync(join(shipped, 'dashboard.json'), 'utf8')) as {
    readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[];
  };
  for (const { title, targets: queries } of dashboard.panels)
    for (const { expr } of queries) await t.resolves(ask('query', { query: expr }), title);
});
