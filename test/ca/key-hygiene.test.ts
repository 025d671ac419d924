// What agent and CA print at their most verbose, as processes of their own: certificates are issued, renewed, handed out and refused,
// and neither a private key nor the text of a token is in any line.

import t from 'tap';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { caAudience, caTrustDomain, createRawCaClient, writeCaKubeconfig } from '../fixtures/authority.js';
import type { Child } from '../fixtures/child.js';
import { startChild } from '../fixtures/child.js';
import { writeKubeconfig } from '../fixtures/cluster-credentials.js';
import { createAccount, createNamespace, createNode, createPod, createToken } from '../fixtures/cluster-objects.js';
import { sharedCluster } from '../fixtures/cluster.js';
import { freePorts } from '../fixtures/free-ports.js';
import { formsOf } from '../fixtures/key-forms.js';
import type { Scene } from '../fixtures/scene.js';
import { createScene } from '../fixtures/scene.js';
import { binary, createSignet } from '../fixtures/signet.js';
import { until } from '../fixtures/until.js';

const cluster = await sharedCluster(t);
const namespace = await createNamespace(cluster, 'hygiene');
for (const account of ['agent', 'web']) await createAccount(cluster, namespace, account);
const web = `spiffe://${caTrustDomain}/ns/${namespace}/sa/web`;

/** Runs the command that follows with all that it prints in the file. */
const printingTo = (file: string): readonly string[] => ['sh', '-c', 'exec "$@" >>"$0" 2>&1', file];

interface VerboseCa {
  readonly port: number;
  readonly rootsFile: string;
  readonly issuerKeyFile: string;
  readonly output: string;
}

async function startVerboseCa(scene: Scene): Promise<VerboseCa> {
  const directory = join(scene.directory, 'ca');
  mkdirSync(directory);
  const file = (name: string): string => join(directory, name);
  const [port, httpPort] = await freePorts(2);
  const config = {
    trustDomain: caTrustDomain,
    kubeconfig: await writeCaKubeconfig(file('kubeconfig'), cluster),
    nodeAgents: [`${namespace}/agent`],
    state: { directory: file('state') },
    listen: { address: `127.0.0.1:${port}`, names: ['localhost'] },
    http: { address: `127.0.0.1:${httpPort}` },
    log: { level: 'debug' },
  };
  writeFileSync(file('ca.yaml'), JSON.stringify(config));
  const [command, ...args] = [...printingTo(file('output')), process.execPath, binary, 'ca', '--config', file('ca.yaml')] as const;
  const child: Child = scene.add(
    startChild({ name: 'signet ca', command, args, environment: { PATH: process.env['PATH'] ?? '', HOME: directory } }),
  );
  await until('the CA is ready', 60_000, async () => child.running() && (await fetch(`http://127.0.0.1:${httpPort}/readyz`)).ok);
  return { port: port ?? 0, rootsFile: file('state/issuer.crt'), issuerKeyFile: file('state/issuer.key'), output: file('output') };
}

for (const auth of ['node', 'workload'] as const) {
  await t.test(`R103 at level debug, with auth ${auth}: no private key, no text of a token`, async (t) => {
    const scene = await createScene(t);
    const ca = await startVerboseCa(scene);
    const node = await createNode(cluster);
    const own = await createPod(cluster, { namespace, account: 'agent', node: node.name, phase: 'Running' });
    const token = await createToken(cluster, { namespace, account: 'agent', audience: caAudience, pod: own });
    const foreign = await createToken(cluster, { namespace, account: 'agent', audience: 'other', pod: own });
    await createPod(cluster, { namespace, account: 'web', node: node.name, tokenAudiences: [caAudience], phase: 'Running' });
    const place = (name: string): string => join(scene.directory, name);
    writeFileSync(place('token'), token);
    copyFileSync(ca.rootsFile, place('roots.pem'));
    const roots = { kind: 'file', path: place('roots.pem') };
    const upstream = { kind: 'istio', endpoints: [`localhost:${ca.port}`], tls: { roots }, auth, audience: caAudience };
    const agent = createSignet(scene, {
      mode: 'agent',
      accounts: [],
      within: printingTo(place('output')),
      config: {
        trustDomain: caTrustDomain,
        node: node.name,
        kubeconfig: writeKubeconfig(place('kubeconfig'), cluster, node.credential),
        pods: { sources: [{ kind: 'apiserver' }] },
        upstreams: [{ ...upstream, ...(auth === 'node' ? { tokenFile: place('token') } : {}) }],
        trustBundle: { sources: [roots] },
        log: { level: 'debug' },
      },
    });
    await agent.start();

    // Issued, handed out, renewed, handed out again; and refused, by the CA and by the agent.
    const keys: string[] = [];
    const write = async (): Promise<boolean> => {
      const { code } = await agent.command('fetch', web, '--write', place('web'), '--socket', agent.socket);
      if (code !== 0) return false;
      const key = readFileSync(place('web/svid.key'), 'utf8');
      if (!keys.includes(key)) keys.push(key);
      return true;
    };
    await until('the certificate of web', 60_000, write);
    t.equal((await agent.command('renew', web, '--socket', agent.adminSocket)).code, 0);
    await until('the renewed one', 60_000, async () => (await write()) && keys.length === 2);
    t.not((await agent.command('fetch', `${web}-not`, '--socket', agent.socket)).code, 0);
    const client = createRawCaClient(`localhost:${ca.port}`, ca.rootsFile);
    t.teardown(() => client.close());
    for (const bad of [foreign, `${token}x`]) t.not((await client.call({ token: bad, identity: web })).code, 0);
    t.not((await client.call({ token, identity: `${web}-not` })).code, 0);
    t.equal(await agent.stop(), 0);

    const printed = [readFileSync(place('output')), readFileSync(ca.output)];
    for (const [name, output] of [
      ['agent', printed[0]],
      ['ca', printed[1]],
    ] as const) {
      t.ok(output?.includes(web) && output.includes('"level":"debug"'), `${name}: the output holds what it is to hold`);
      t.notMatch(output?.toString(), /PRIVATE KEY/, `${name}: no key in PEM`);
      // The three parts of a JWS (RFC 7515 §7.1), of whichever token.
      t.notMatch(output?.toString(), /eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/, `${name}: no token`);
      for (const text of [token, foreign]) {
        for (const part of text.split('.').slice(1)) t.notOk(output?.includes(part), `${name}: no claims and no signature`);
      }
      for (const key of [...keys, readFileSync(ca.issuerKeyFile, 'utf8')]) {
        t.notOk(
          formsOf(key).some((form) => output?.includes(form)),
          `${name}: no form of a key`,
        );
      }
    }
  });
}
