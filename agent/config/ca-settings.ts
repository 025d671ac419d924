// The table of settings of `signet ca`, like that of the agent (settings.ts): the type of its configuration, the reading of file,
// environment and flags, and docs/configuration-ca.md follow from it.

import * as z from 'zod/mini';
import { isNamespace, isServiceAccount } from '../identity/spiffe-id.js';
import { caIssuer, clusterTrustBundleName, configMapNames, issuerFaults, servingSecrets, signerName, signerNames } from './ca-issuer.js';
import type { Fault } from './file.js';
import type { Kind } from './kinds.js';
import { absolutePath, checkedText, choice, duration, expected, hostPort, integer, optional, size, trustDomain } from './kinds.js';
import { audiences, fileOnly, hosts, isAccountName, mapping, names, namespaces, notEmpty, pathSchema } from './lists.js';
import { quickAck } from './quick-ack.js';
import { setting } from './setting.js';
import type { Typed } from './settings.js';

export type CaSettings = ReturnType<typeof caSettings>;

/** A cluster besides the one that `kubeconfig` or the own pod is of. */
export interface RemoteCluster {
  /** What its callers send as `clusterid`. */
  readonly id: string;
  readonly aliases?: readonly string[];
  readonly kubeconfig: string;
}

export function caSettings() {
  return {
    trustDomain: setting(trustDomain(), 'Trust domain: what follows spiffe:// in every identity that is signed.'),
    cluster: {
      id: setting(clusterId(), 'What callers of this cluster send as clusterid; those that send none are of this cluster.', 'Kubernetes'),
      aliases: setting(names('a list of cluster ids', isClusterId), 'Other ids that mean this cluster.', []),
    },
    clusters: setting(
      remoteClusters(),
      'Other clusters whose pods get identities of this trust domain, each with a kubeconfig. Its id and aliases are what its callers send as clusterid.',
      [],
    ),
    kubeconfig: setting(
      optional(absolutePath()),
      'A kubeconfig for the API server; followed, and so are the files that it names. Without it the account of the own pod is used.',
    ),
    whenApiServerAway: setting(
      choice('unavailable', 'jwks'),
      'What happens while the API server cannot be asked. unavailable: calls are told to try again. jwks: tokens are checked against its keys as they were read last, every five minutes; keys and pods count for 15 minutes; revoked tokens pass meanwhile, and the audit line says so.',
      'unavailable',
    ),
    audiences: setting(audiences(), 'Whom tokens must be for: one of these.', ['signet-ca']),
    nodeAgents: setting(
      names('a list of <namespace>/<service account>', isAccountName),
      'Accounts of node agents: each of their pods may have the identity of any account that has a live pod on its node.',
      ['signet-system/signet-agent'],
    ),
    deny: setting(
      names('a list of <namespace>/<service account>, with * for any characters', isAccountPattern),
      'Accounts that no node agent may speak for. They still get their own identity with their own token.',
      ['kube-system/*', 'kube-public/*', 'kube-node-lease/*'],
    ),
    csr: {
      extras: setting(
        choice('strict', 'ignore'),
        'What a certificate request asks for beside its key and its identity: refused (strict) or left out of the certificate (ignore).',
        'strict',
      ),
      keyTypes: setting(keyTypes(), 'Types and sizes of keys that are certified.', [...keyTypeNames]),
    },
    certificate: {
      lifetime: setting(duration('10s', '90d'), 'Lifetime of a certificate whose request names none.', '24h'),
      minLifetime: setting(duration('10s', '90d'), 'Least lifetime that may be asked for.', '10s'),
      maxLifetime: setting(duration('10s', '90d'), 'Longest lifetime that may be asked for; no certificate outlives the issuer.', '24h'),
    },
    issuer: setting(
      optional(caIssuer()),
      'A Secret that all replicas have the issuer from, made there when there is none, and rotated; or PEM files. Both are followed. Without them one is made on the first start and kept in the state directory, for one replica.',
    ),
    lease: {
      namespace: setting(objectName('a namespace', isNamespace), 'Namespace of the Lease.', 'signet-system'),
      name: setting(
        objectName('a Lease', isServiceAccount),
        'The Lease that one replica holds: it rotates the issuer in the Secret and writes roots and serving certificates.',
        'signet-ca',
      ),
      duration: setting(
        duration('3s', '10m'),
        'How long after the end of the replica that holds it another one takes over. It is renewed three times as often.',
        '15s',
      ),
    },
    rotation: {
      lag: setting(
        duration('1s', '7d'),
        'How long a replica may sign by what it last read of the Secret, half of it without contact to the API server. Each wait of a rotation is longer by that.',
        '30m',
      ),
    },
    roots: roots(),
    servingSecrets: setting(
      servingSecrets(),
      'Secrets of kubernetes.io/tls that are given a serving certificate of the issuer, and the roots, for servers beside the CA such as istiod.',
      [],
    ),
    requests: requests(),
    listen: listen(),
    limits: limits(),
    audit: audit(),
    http: {
      address: setting(hostPort(), 'Where /livez, /readyz and /metrics are served.', '127.0.0.1:9471'),
    },
    state: {
      directory: setting(
        absolutePath(),
        'What survives a restart: the issuer that was made on the first start. Mode 0700.',
        '/var/lib/signet',
      ),
    },
    log: {
      level: setting(choice('error', 'warn', 'info', 'debug'), 'What is logged. Audit lines are written at every level.', 'info'),
    },
  };
}

/** Settings that are sound alone but not together. */
export function caFaults(config: Typed<CaSettings>): Fault[] {
  const { cluster, clusters, certificate } = config;
  const faults = [...issuerFaults(config), ...requestFaults(config)];
  const { lifetimeMs, minLifetimeMs, maxLifetimeMs } = certificate;
  if (lifetimeMs < minLifetimeMs || lifetimeMs > maxLifetimeMs) {
    faults.push({ path: 'certificate.lifetime', message: 'must be between minLifetime and maxLifetime' });
  }
  const ids = [cluster, ...clusters].flatMap(({ id, aliases = [] }) => [id, ...aliases]);
  const twice = ids.find((id, index) => ids.indexOf(id) < index);
  // Whose pods count must not depend on the order of the list.
  if (twice !== undefined)
    faults.push({ path: 'clusters', message: `must have ids and aliases that mean one cluster: ${twice} stands twice` });
  return faults;
}

/** Where the roots are written. */
function roots() {
  return {
    configMaps: setting(configMapNames(), 'ConfigMaps that hold the roots, in each selected namespace, under the key root-cert.pem.', []),
    namespaces: setting(optional(namespaces()), 'Only these namespaces have those ConfigMaps.'),
    excludeNamespaces: setting(namespaces(), 'These namespaces have none.', []),
    clusterTrustBundle: {
      name: setting(optional(clusterTrustBundleName()), 'A ClusterTrustBundle that holds the roots, where the API server has such.'),
      signerName: setting(optional(signerName()), 'Its signer, which its name then begins with.'),
    },
  };
}

/** Where callers find the service. */
function listen() {
  return {
    address: setting(hostPort(), 'Where the certificate service is.', '0.0.0.0:15012'),
    names: setting(hosts(), 'What the serving certificate names: how callers reach the service. It is signed by the issuer.', [
      'signet-ca.signet-system.svc',
      'localhost',
      '127.0.0.1',
    ]),
    tlsMinVersion: setting(choice('1.2', '1.3'), 'Oldest version of TLS that is spoken.', '1.3'),
    quickAck: quickAck(),
  };
}

/** Objects of the API server by which certificates are asked for. */
function requests() {
  return {
    kubernetesCsr: {
      signerName: setting(
        optional(signerName()),
        'Signer whose CertificateSigningRequests by node agents are approved and signed, after the check of the node.',
      ),
      approveOnly: setting(
        signerNames(),
        'Signers whose CertificateSigningRequests are approved or denied by the same check, all of them; another controller signs.',
        [],
      ),
    },
    podCertificate: {
      signerName: setting(
        optional(signerName()),
        'Signer whose PodCertificateRequests, of kubelets and of agents that act as their node, are signed. Only nodes may have the right to create them.',
      ),
    },
  };
}

/** The least lifetime of a certificate by PodCertificateRequest (certificates.k8s.io). */
const minPodCertificateMs = 3_600_000;

function requestFaults({ requests: { kubernetesCsr, podCertificate }, certificate, csr }: Typed<CaSettings>): Fault[] {
  const faults: Fault[] = [];
  if (kubernetesCsr.approveOnly.some((signer) => signer === kubernetesCsr.signerName))
    faults.push({
      path: 'requests.kubernetesCsr.approveOnly',
      message: 'must not name the signerName, whose requests are approved and signed',
    });
  if (podCertificate.signerName === undefined) return faults;
  // What the API server would refuse of each certificate.
  const needs = (path: string, text: string): number =>
    faults.push({ path, message: `must ${text} with requests.podCertificate.signerName` });
  if (certificate.maxLifetimeMs < minPodCertificateMs) needs('certificate.maxLifetime', 'be at least 1h');
  if (csr.keyTypes.every((type) => type === 'rsa-2048')) needs('csr.keyTypes', 'have a type beside rsa-2048');
  return faults;
}

function limits() {
  return {
    calls: setting(integer(1, 100_000), 'Calls under way at once; one more is told to try again.', 2_000),
    callsPerConnection: setting(integer(1, 10_000), 'Calls under way at once on one connection; more wait at the caller.', 100),
    connections: setting(integer(1, 100_000), 'Connections in all.', 20_000),
    message: setting(size('4KiB', '1MiB'), 'Size of one request.', '64KiB'),
    deadline: setting(duration('1s', '1m'), 'How long one call may take.', '10s'),
  };
}

/** What is told of each decision. */
function audit() {
  return {
    file: setting(
      optional(absolutePath()),
      'Where the audit lines go; a file that is moved away is made anew. Without it: standard output.',
    ),
    onFailure: setting(
      choice('refuse', 'continue'),
      'When an audit line cannot be written: refuse what it is about, or answer all the same and say so in the log.',
      'refuse',
    ),
  };
}

function objectName(what: string, isValid: (text: string) => boolean): Kind<string> {
  const allowed = `the name of ${what}`;
  return { schema: () => checkedText(allowed, isValid), allowed, suffix: '', fileOnly: false, isOptional: false };
}

const keyTypeNames = ['ec-p256', 'ec-p384', 'ec-p521', 'rsa-2048', 'rsa-3072', 'rsa-4096'] as const;
type KeyTypeName = (typeof keyTypeNames)[number];

function keyTypes(): Kind<KeyTypeName[]> {
  const allowed = `a list of ${keyTypeNames.join(', ')}`;
  return fileOnly(
    () => z.array(z.enum(keyTypeNames, expected(`one of ${keyTypeNames.join(', ')}`)), expected(allowed)).check(notEmpty(allowed)),
    allowed,
  );
}

function isClusterId(text: string): boolean {
  return /^[\x21-\x7e]{1,253}$/.test(text);
}

function isAccountPattern(text: string): boolean {
  const [namespace = '', name = '', ...rest] = text.split('/');
  return rest.length === 0 && isNamespace(namespace.replaceAll('*', 'x')) && isServiceAccount(name.replaceAll('*', 'x'));
}

function clusterId(): Kind<string> {
  const allowed = 'the id of a cluster: printable characters, at most 253';
  return { schema: () => checkedText(allowed, isClusterId), allowed, suffix: '', fileOnly: false, isOptional: false };
}

function remoteClusters(): Kind<RemoteCluster[]> {
  const allowed = 'a list of clusters: {id, aliases, kubeconfig}';
  const id = () => checkedText('the id of a cluster', isClusterId);
  const cluster = () =>
    mapping({ id: id(), aliases: z.exactOptional(z.array(id(), expected('a list of ids'))), kubeconfig: pathSchema() }, 'a cluster');
  return fileOnly(() => z.array(cluster(), expected(allowed)).check(z.maxLength(100)), allowed);
}
