// The commands of docs/install.md, as they stand there, on a real API server with a real kubelet and istiod: from nothing to
// certificates and back, by Helm and by kustomize. Started by walk.test.ts. The agent and the CA are real processes with what is
// rendered for them; what only a container runtime has, `kubectl exec`, a script stands in for.

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import type { Finished } from '../fixtures/child.js';
import { runToEnd } from '../fixtures/child.js';
import { startControlPlane } from '../fixtures/cluster.js';
import { writeKubeconfig } from '../fixtures/cluster-credentials.js';
import { startIstiod } from '../fixtures/cluster-istiod.js';
import { startKubelet } from '../fixtures/cluster-kubelet.js';
import { createAccount, createNode, createObjects, createPod } from '../fixtures/cluster-objects.js';
import { startWorkloads } from '../fixtures/cluster-workloads.js';
import { repository } from '../fixtures/envoy-examples.js';
import { helmBinaries } from '../fixtures/helm-binaries.js';
import { blocksOf } from '../fixtures/page-blocks.js';
import { startRelay } from '../fixtures/relay.js';
import { createScene } from '../fixtures/scene.js';
import { binary } from '../fixtures/signet.js';
import { whyNoTmpfs } from '../fixtures/tmpfs.js';
import { stopwatch, until } from '../fixtures/until.js';

const commandsOf = (heading: string): readonly string[] => blocksOf('install.md', heading);

const scene = await createScene(t);
const cluster = await startControlPlane(scene);
const node = await createNode(cluster);
const kubelet = await startKubelet(scene, cluster, node);
await createObjects(cluster, [{ kind: 'Namespace', metadata: { name: 'shop' } }]);
await createAccount(cluster, 'shop', 'cart');
const cartIdentity = 'spiffe://cluster.local/ns/shop/sa/cart';
const cart = await createPod(cluster, { namespace: 'shop', account: 'cart', node: node.name });
const workloads = startWorkloads(scene, cluster, { node, kubelet, hosts: { 'istiod.istio-system.svc': '127.0.0.1' } });

// The clone: kubectl and helm are on the path, and what the commands write goes elsewhere.
const clone = join(scene.directory, 'clone');
const tools = join(scene.directory, 'tools');
for (const directory of [clone, tools]) mkdirSync(directory);
symlinkSync(join(repository, 'packaging'), join(clone, 'packaging'));
const { helm, kubectl } = await helmBinaries();
const program = (name: string, text: string): void => writeFileSync(join(tools, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
program('helm', `exec '${helm}' "$@"`);
program('signet', `exec '${process.execPath}' '${binary}' "$@"`);

const environment = {
  PATH: `${tools}:${process.env['PATH'] ?? ''}`,
  HOME: scene.directory,
  KUBECONFIG: writeKubeconfig(join(scene.directory, 'kubeconfig'), cluster, { token: cluster.adminToken }),
};

/** Runs commands of the page, and gives what they print; fails with the first one that fails. */
async function follow(commands: string): Promise<string> {
  const { code, stdout, stderr } = await shell(commands);
  if (code !== 0) throw new Error(`${commands}ended with ${code}: ${stdout}${stderr}`);
  return stdout;
}

async function shell(commands: string): Promise<Finished> {
  const elapsed = stopwatch();
  const end = await runToEnd('bash', ['-euc', `cd '${clone}'\n${commands}`], { environment, deadlineMs: 300_000 });
  t.comment(`${(elapsed() / 1000).toFixed(1)} s: ${commands.split('\n')[0]}`);
  return end;
}

/** `kubectl exec` into the agent, for as long as that process runs. */
function aimExec(): void {
  const inside = workloads.within('signet-agent').map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
  program(
    'kubectl',
    `case "$*" in '-n signet-system exec daemonset/signet-agent -- '*) shift 5; exec ${inside.join(' ')} "$@" ;; esac\nexec '${kubectl}' "$@"`,
  );
}
program('kubectl', `exec '${kubectl}' "$@"`);

/** The sections for when it works and for when it does not; gives the certificate that a pod has by the socket. */
async function seeThatItWorks(t: Test): Promise<string> {
  const [rollout = '', status = '', fetchOwn = ''] = (commandsOf('See that it works')[0] ?? '').split(/(?<=\n)/);
  t.match(await follow(rollout), /successfully rolled out/);
  aimExec();
  const text = await until(
    'the certificates',
    60_000,
    async () => {
      const shown = await follow(status);
      return ['shop/sa/cart', 'signet-system/sa/signet-agent'].every((name) => new RegExp(`${name} +(issued|idle)`).test(shown)) && shown;
    },
    500,
  );
  t.match(text, /^agent .*, ready$/m);
  t.match(await follow(fetchOwn), /SPIFFE ID +spiffe:\/\/cluster\.local\/ns\/signet-system\/sa\/signet-agent/);
  const [readyz = ''] = commandsOf('When it does not');
  t.match(await follow(readyz), /^ready/);
  const [command = '', ...args] = workloads.inPod(cart.uid);
  const fetch = ['signet', 'fetch', cartIdentity, '--socket', '/run/signet/sds/sds.sock', '--timeout', '60'];
  const { stdout, stderr } = await runToEnd(command, [...args, ...fetch], { environment });
  const certificate = /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/s.exec(stdout)?.[0];
  t.ok(certificate, stderr);
  return certificate ?? '';
}

const [uninstall = '', clear = ''] = commandsOf('Upgrade, back, and away');

/** What is left in the cluster, by kind and name. */
async function leftovers(): Promise<readonly string[]> {
  const kinds = ['all', 'secrets', 'configmaps', 'leases', 'serviceaccounts', 'roles', 'rolebindings', 'networkpolicies'];
  const global = ['clusterroles', 'clusterrolebindings', 'validatingadmissionpolicies', 'flowschemas', 'prioritylevelconfigurations'];
  const names = await follow(`kubectl get ${[...kinds, ...global].join(',')} --all-namespaces -o name`);
  return [...new Set(names.split('\n').filter((name) => name.includes('signet')))].sort();
}

await t.test('standalone, by Helm', async (t) => {
  const commands = commandsOf('With Helm').join('');
  await follow(commands);
  const certificate = await seeThatItWorks(t);

  const [install = ''] = /^helm install (?:.*\\\n)*.*/m.exec(commands) ?? [];
  await follow(`${install.replace('install', 'upgrade')} --set agent.config.certificate.lifetime=12h\n`);
  const after = await seeThatItWorks(t);
  const why = whyNoTmpfs('/run');
  if (why === undefined) t.equal(after, certificate, 'the certificate of before');
  else t.comment(`certificates are not kept: ${why}`);

  await follow(uninstall);
  const stays = ['configmap/signet-ca-root', 'lease.coordination.k8s.io/signet-ca', 'secret/signet-ca-issuer'];
  await follow('kubectl -n signet-system wait pod --all --for=delete --timeout=60s\n');
  t.same(await leftovers(), stays);
  await follow(clear);
  t.same(await leftovers(), []);
});

await t.test('standalone, by kustomize', async (t) => {
  await follow(commandsOf('With kustomize').join(''));
  await seeThatItWorks(t);
  await follow('kubectl delete -k signet-install\n');
  await follow('kubectl delete configmaps --all-namespaces --field-selector metadata.name=signet-ca-root\n');
  t.same(await leftovers(), []);
});

await t.test('ambient, beside istiod', async (t) => {
  const istiod = await startIstiod(scene, cluster, {
    trustedNodeAccounts: ['istio-system/ztunnel', 'signet-system/signet-agent'],
  });
  const relay = await startRelay(15_012, istiod.port());
  t.teardown(() => relay.close());
  await follow(commandsOf('With Helm').join('').replace('profiles/standalone', 'profiles/ambient'));
  await seeThatItWorks(t);

  const upgrade = 'helm upgrade signet packaging/chart --namespace signet-system --values packaging/chart/profiles/ambient.yaml';
  await t.test('with the values for Kubernetes before 1.36', async (t) => {
    writeFileSync(join(clone, 'before.yaml'), blocksOf('install.md', 'Kubernetes before 1.36', 'yaml').join(''));
    await follow(`${upgrade} --values before.yaml\n`);
    await seeThatItWorks(t);
    const asNode = 'kubectl get clusterroles,clusterrolebindings -o name | grep as-node || echo none\n';
    t.equal(await follow(asNode), 'none\n', 'it may no longer act as its node');
  });

  await t.test('the trust domain of another mesh', async (t) => {
    await follow(`${upgrade} --set trustDomain=example.org\n`);
    await follow('kubectl -n signet-system rollout status daemonset/signet-agent\n');
    aimExec();
    const status = (): Promise<string> => follow('kubectl -n signet-system exec daemonset/signet-agent -- signet status\n');
    // What is issued on demand has a reason when somebody has asked.
    await shell(commandsOf('See that it works')[0]?.split(/(?<=\n)/)[2] ?? '');
    const text = await until('a reason', 60_000, async () => /san-mismatch.*/.exec(await status())?.[0]);
    t.match(text, /requested spiffe:\/\/example\.org\/.*received spiffe:\/\/cluster\.local\/.*trustDomain/);
  });
});

await t.test('what is wrong in the values is refused, with its place', async (t) => {
  const dryRun = 'helm template signet packaging/chart --values packaging/chart/profiles/standalone.yaml';
  for (const [value, place] of [
    ['trustDomain=Example_Org', /at '\/trustDomain'/],
    ['agent.confg.x=1', /at '\/agent'.*confg/],
  ] as const) {
    const { code, stderr } = await shell(`${dryRun} --set ${value}\n`);
    t.not(code, 0);
    t.match(stderr, place);
  }
  // What needs a kind that is not there is not installed in part.
  const { code, stderr } = await shell(
    'helm upgrade signet packaging/chart -n signet-system -f packaging/chart/profiles/ambient.yaml --set parts.monitoring=true\n',
  );
  t.not(code, 0);
  t.match(stderr, /no matches for kind "PodMonitor"/);
});
