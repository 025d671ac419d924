// docs/systemd.md by the letter: every block of its two walks is run where the page says, in a fresh Debian with the package, and timed.

import { X509Certificate } from 'node:crypto';
import { copyFileSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { runToEnd } from '../fixtures/child.js';
import type { Cluster } from '../fixtures/cluster.js';
import { sharedCluster } from '../fixtures/cluster.js';
import { formatKubeconfig, writeKubeconfig } from '../fixtures/cluster-credentials.js';
import type { TestNode } from '../fixtures/cluster-objects.js';
import { createAccount, createNamespace, createNode, createPod } from '../fixtures/cluster-objects.js';
import { issueNodeCertificates } from '../fixtures/cluster-pki.js';
import { buildDeb } from '../fixtures/deb.js';
import { repository } from '../fixtures/envoy-examples.js';
import { freePorts } from '../fixtures/free-ports.js';
import { helmBinaries } from '../fixtures/helm-binaries.js';
import { untilReady } from '../fixtures/installed.js';
import type { Machine } from '../fixtures/machine.js';
import { startMachine, whyNoMachine } from '../fixtures/machine.js';
import { blocksOf } from '../fixtures/page-blocks.js';
import { createCgroups } from '../fixtures/real-cgroups.js';
import type { Scene } from '../fixtures/scene.js';
import { createScene } from '../fixtures/scene.js';
import { stopwatch, until } from '../fixtures/until.js';

const skip = whyNoMachine() ?? false;

async function timed<T>(t: Test, what: string, step: () => Promise<T>): Promise<T> {
  const elapsed = stopwatch();
  const result = await step();
  t.comment(`${what}: ${(elapsed() / 1_000).toFixed(1)} s`);
  return result;
}

/** A machine that is busy has more time than a person. */
const runIn = (machine: Machine, block = ''): Promise<string> =>
  machine.output('sh', '-ec', `cd /root\n${block.replaceAll(/signet fetch .*$/gm, '$& --timeout 60')}`);

/** The first section: what is built here is installed there. */
async function install(t: Test, scene: Scene, machine: Machine): Promise<void> {
  const [build = '', onEach, ...more] = blocksOf('systemd.md', 'Install');
  t.match(build, 'npm run build && node packaging/deb.mjs .');
  t.equal(more.length, 0);
  const deb = await timed(t, 'build the package', () => buildDeb({ directory: join(scene.directory, 'deb') }));
  copyFileSync(deb, join(machine.root, 'root', basename(deb)));
  await timed(t, 'install', () => runIn(machine, onEach));
}

/** The files of a node, as kubeadm and its kubelet have them; the result replaces its certificate as a kubelet does, and gives its id. */
async function putKubelet(machine: Machine, cluster: Cluster, { name, credential }: TestNode): Promise<() => Promise<string>> {
  const directory = '/var/lib/kubelet/pki';
  const current = join(directory, 'kubelet-client-current.pem');
  const put = async (file: string, { certificate, privateKey }: TestNode['credential']): Promise<void> => {
    machine.write(join(directory, file), certificate + privateKey);
    await machine.output('sh', '-c', `ln -s ${file} ${current}.new && mv -T ${current}.new ${current}`);
  };
  await put('kubelet-client-1.pem', credential);
  machine.write('/etc/kubernetes/pki/ca.crt', cluster.roots, 0o644);
  const user = { 'client-certificate': current, 'client-key': current };
  machine.write('/etc/kubernetes/kubelet.conf', formatKubeconfig({ url: cluster.url, caFile: '/etc/kubernetes/pki/ca.crt' }, user));
  return async () => {
    const { client } = issueNodeCertificates(cluster.pkiDirectory, name);
    await put('kubelet-client-2.pem', client);
    return `X509SHA256=${new X509Certificate(client.certificate).fingerprint256.replaceAll(':', '').toLowerCase()}`;
  };
}

t.test('a node without Kubernetes', { skip }, async (t) => {
  const cgroups = createCgroups(t);
  const scene = await createScene(t);
  const machine = await startMachine(scene, cgroups);
  await install(t, scene, machine);
  const [block, ...more] = blocksOf('systemd.md', 'A node without Kubernetes');
  t.equal(more.length, 0);
  const output = await timed(t, 'configure, start, look', () => runIn(machine, block));
  t.match(output, /Active: active \(running\)/);
  t.match(output, /spiffe:\/\/example\.org\/ns\/shop\/sa\/cart/);
  await untilReady(machine, 'signet-agent.service');
});

t.test('a node of a cluster, and its CA', { skip }, async (t) => {
  const cgroups = createCgroups(t);
  const scene = await createScene(t);
  const cluster = await sharedCluster(t);
  const { kubectl } = await helmBinaries();
  const namespace = await createNamespace(cluster, 'shop');
  const node = await createNode(cluster);
  for (const account of ['cart', 'late']) await createAccount(cluster, namespace, account);
  await createPod(cluster, { namespace, account: 'cart', node: node.name, phase: 'Running' });
  const machine = await startMachine(scene, cgroups, { network: 'ours' });
  machine.write('/etc/hosts', '127.0.0.1 localhost ca.example.org\n', 0o644);
  machine.write('/etc/nsswitch.conf', 'hosts: files\n', 0o644);
  const rotate = await putKubelet(machine, cluster, node);
  await install(t, scene, machine);

  const [port] = await freePorts(1);
  const [rights = '', ofCa = '', onCa, onNode, ...more] = blocksOf('systemd.md', 'A node of a cluster, and its CA').map((block) =>
    block.replaceAll('15012', String(port)),
  );
  t.equal(more.length, 0);
  // As in a checkout, and nothing is written to it.
  symlinkSync(join(repository, 'packaging'), join(scene.directory, 'packaging'));
  const environment = {
    HOME: scene.directory,
    PATH: `${dirname(kubectl)}:${process.env['PATH']}`,
    KUBECONFIG: writeKubeconfig(join(scene.directory, 'admin'), cluster, { token: cluster.adminToken }),
  };
  for (const [what, block] of Object.entries({ 'rights of the CA': rights, 'kubeconfig of the CA': ofCa })) {
    const { code, stderr } = await timed(t, what, () => runToEnd('sh', ['-ec', `cd '${scene.directory}'\n${block}`], { environment }));
    t.equal(code, 0, stderr);
  }
  machine.write('/etc/signet/kubeconfig', readFileSync(join(scene.directory, 'signet-ca.kubeconfig')));
  t.match(await timed(t, 'configure and start the CA', () => runIn(machine, onCa)), /Active: active \(running\)/);
  await timed(t, 'until the CA knows the pods', () => untilReady(machine, 'signet-ca.service'));
  await machine.output('cp', '/var/lib/signet/issuer.crt', '/etc/signet/root.pem');
  t.match(await timed(t, 'configure and start the agent', () => runIn(machine, onNode)), new RegExp(`node +${node.name} in trust domain`));
  const fetch = (account: string): Promise<string> => machine.output('signet', 'fetch', `${namespace}/${account}`, '--timeout', '60');
  t.match(await timed(t, 'fetch', () => fetch('cart')), `spiffe://cluster.local/ns/${namespace}/sa/cart`);
  t.match(readFileSync(join(machine.root, 'var/log/private/signet/audit.log'), 'utf8'), '"decision":"grant"');

  const used = await rotate();
  await createPod(cluster, { namespace, account: 'late', node: node.name, phase: 'Running' });
  await fetch('late');
  await until(
    'the agent is there by the new certificate of the kubelet',
    60_000,
    async () => {
      await machine.output('signet', 'renew', `${namespace}/late`);
      return cluster.audit().some(({ user }) => user.extra?.['authentication.kubernetes.io/credential-id']?.[0] === used);
    },
    1_000,
  );
  await untilReady(machine, 'signet-agent.service');
});
