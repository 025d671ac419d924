// The one table of settings: what exists, what it means, its type and default. Everything else follows from it: the Config
// type, the reading of file, environment and flags, docs/configuration.md and the JSON Schema.
// A function, so that nothing is built before a command needs it.

import type { HostPort } from './kinds.js';
import {
  absolutePath,
  boolean,
  certificateName,
  choice,
  duration,
  fileMode,
  group,
  hostPort,
  integer,
  keyPin,
  nodeName,
  optional,
  size,
  socketPath,
  trustDomain,
} from './kinds.js';
import { labels, namespaces, peerRules } from './lists.js';
import { localCa } from './local-ca.js';
import type { Place, Setting } from './setting.js';
import { setting } from './setting.js';
import { podSources, rootSources } from './sources.js';
import { upstreams } from './upstreams.js';

const inDevelopment =
  (dev: (place: Place) => unknown, agent?: unknown): ((place: Place) => unknown) =>
  (place) =>
    place.mode === 'dev' ? dev(place) : agent;

export type Settings = ReturnType<typeof settings>;

export function settings() {
  return {
    trustDomain: setting(
      trustDomain(),
      'Trust domain: what follows spiffe:// in every identity.',
      inDevelopment(() => 'example.org'),
    ),
    node: setting(
      nodeName(),
      'Name of this node as the pods have it in spec.nodeName; never the host name. Without it and $NODE_NAME the node of the client certificate (CN system:node:…) in kubeconfig; in dev local.',
      ({ mode, nodeName: name }) => name ?? (mode === 'dev' ? 'local' : undefined),
    ),
    identities: identities(),
    pods: pods(),
    kubeconfig: setting(
      optional(absolutePath()),
      'A kubeconfig for the API server, such as that of the kubelet; followed, and so are the files that it names. Without it the account of the own pod is used.',
    ),
    upstreams: setting(
      upstreams(),
      'The CAs that sign, in order: the first that works is used. istio asks a CA that speaks the certificate service of Istio; kubernetes-csr, pod-certificate and cert-manager put a request object to the API server and wait for its signer; built-in signs in this process, with the issuer of the given PEM files or one made on the first start.',
      inDevelopment(() => [{ kind: 'built-in' }]),
    ),
    trustBundle: {
      sources: setting(
        rootSources(),
        'Where the roots of the trust domain come from; the union counts. A file holds PEM and is followed; issuer means the roots of the built-in CA; configmap is a key of a ConfigMap (root-cert.pem when none is given), cluster-trust-bundle one ClusterTrustBundle or all of a signer, both watched.',
        [{ kind: 'issuer' }],
      ),
    },
    certificate: {
      lifetime: setting(duration('10s', '90d'), 'Lifetime asked for. The CA may give less.', '24h'),
      issue: setting(
        choice('ahead', 'on-demand'),
        'When an identity gets its first certificate. ahead: as soon as a pod of it is there. on-demand: when a client first asks for it by SDS; from then on it is renewed as long as the identity stays. For nodes where nobody does but proxies with keys of their own (localCa), on-demand halves the calls to the CA.',
        'ahead',
      ),
      keyType: setting(choice('ec-p256', 'ec-p384', 'rsa-2048', 'rsa-3072'), 'Type of the keys made for certificates.', 'ec-p256'),
      concurrency: setting(integer(1, 256), 'How many requests to the CA run at once.', 8),
      deadline: setting(duration('1s', '5m'), 'How long one request to the CA may take.', '10s'),
    },
    sds: sds(),
    peers: setting(
      peerRules(),
      'Who may ask for which identities: the first rule that matches the process at the other end decides, no match means none. pod: {} is any pod; host, a process in no pod, needs a unit or a uid. A grant is node (every identity of this node), own (that of its pod; not for host), none, or a list of SPIFFE IDs, with * for any characters of a namespace or service account. Followed after start.',
      inDevelopment(
        ({ uid }) => [
          { host: { uid }, grant: 'node' },
          { pod: {}, grant: 'own' },
        ],
        [{ pod: {}, grant: 'own' }],
      ),
    ),
    localCa: localCa(),
    http: {
      address: setting(hostPort(), 'Where /livez, /readyz and /metrics are served.', '127.0.0.1:9470'),
    },
    admin: {
      socket: {
        path: setting(
          socketPath(),
          'The control socket of status and renew.',
          inDevelopment(({ directory }) => `${directory}/admin/admin.sock`, '/run/signet/admin/admin.sock'),
        ),
      },
      group: setting(optional(group()), 'A group whose members may use the control socket, beside root and the uid of the process.'),
    },
    state: state(),
    log: {
      level: setting(
        choice('error', 'warn', 'info', 'debug'),
        'What is logged. Can be changed while running, through the control socket. Audit lines (audit: true) are written at every level.',
        'info',
      ),
    },
  };
}

function identities() {
  return {
    select: {
      namespaces: setting(optional(namespaces()), 'Only pods of these namespaces get an identity. Followed after start.'),
      excludeNamespaces: setting(namespaces(), 'Pods of these namespaces get none. Followed after start.', [
        'kube-system',
        'kube-public',
        'kube-node-lease',
      ]),
      podLabels: setting(optional(labels()), 'Only pods with all of these labels get an identity. Followed after start.'),
      hostNetwork: setting(
        choice('include', 'exclude'),
        'Whether pods on the host network get an identity. Followed after start.',
        'include',
      ),
      ambient: setting(
        boolean(),
        'Only pods of the Istio ambient mesh get an identity, by the label istio.io/dataplane-mode of the pod, else of its namespace: see pods.namespaces. Followed after start.',
        false,
      ),
    },
  };
}

function pods() {
  return {
    sources: setting(
      podSources(),
      'Where the pods of this node come from. apiserver lists and watches them, as the credential or, with as: node, as this node by impersonation (Kubernetes 1.36 and newer). kubelet-pods-api watches them on the socket of the kubelet (1.37). kubelet polls its port. auto is the first that works of kubelet-pods-api, apiserver as node, apiserver and kubelet. A file holds ordinary Pod manifests and is followed.',
      inDevelopment(() => undefined, [{ kind: 'auto' }]),
    ),
    kubelet: {
      address: setting(hostPort(), 'Where the kubelet of this node is, for the source kubelet.', '127.0.0.1:10250'),
      ca: setting(
        optional(absolutePath()),
        'File with the roots of its serving certificate, PEM. Without it those of the API server count.',
      ),
      serverName: setting(optional(certificateName()), 'The name that its certificate must have. Without it that is the address.'),
      pin: setting(
        optional(keyPin()),
        'SHA-256 of its public key in hexadecimal: decides alone, for a kubelet that signs its own certificate.',
      ),
    },
    namespaces: setting(
      boolean(),
      'Whether namespaces are watched at the API server for the label istio.io/dataplane-mode, for identities.select.ambient: takes list and watch of namespaces. Without it a pod is of the ambient mesh by its own label, or when the CNI of Istio has marked it, which is later.',
      false,
    ),
    linger: setting(duration('0s', '1h'), 'How long an identity is kept after its last pod left.', '30s'),
  };
}

function state() {
  return {
    directory: setting(
      absolutePath(),
      'What survives a restart: the sealed state, and the issuer that the built-in CA made. Mode 0700.',
      inDevelopment(({ directory }) => `${directory}/state`, '/run/signet/state'),
    ),
    sealed: setting(
      boolean(),
      'Whether pods, roots and certificates with their keys are kept over a restart, sealed, in the state directory, if that is on a tmpfs. When false, what is there is removed.',
      inDevelopment(() => false, true),
    ),
  };
}

function sds() {
  return {
    socket: {
      path: setting(
        socketPath(),
        'The SDS socket.',
        inDevelopment(({ directory }) => `${directory}/sds/sds.sock`, '/run/signet/sds/sds.sock'),
      ),
      mode: setting(fileMode(), 'Mode of the SDS socket. Who gets what is decided by peers, whoever can connect.', '0666'),
      group: setting(optional(group()), 'Group of the SDS socket.'),
      takeover: setting(boolean(), 'Whether a running agent of the same uid, trust domain and node may be replaced on its socket.', false),
    },
    hold: setting(
      duration('0s', '30s'),
      'How long a delta stream waits for a certificate that is being issued before it answers without.',
      '3s',
    ),
    limits: {
      connections: setting(integer(1, 65_536), 'Connections in all.', 8_192),
      connectionsPerOwner: setting(integer(1, 65_536), 'Connections of one pod or uid.', 1_024),
      streams: setting(integer(1, 1_000_000), 'Streams in all.', 60_000),
      streamsPerOwner: setting(integer(1, 1_000_000), 'Streams of one pod or uid.', 20_000),
      namesPerStream: setting(integer(1, 1_000_000), 'Names subscribed to on one stream.', 4_096),
      namesPerOwner: setting(integer(1, 1_000_000), 'Names subscribed to by one pod or uid.', 60_000),
      openBurst: setting(integer(1, 1_000_000), 'Streams that one pod or uid may open at once.', 12_000),
      openRate: setting(integer(1, 1_000_000), 'Streams that one pod or uid may open per second, after the burst.', 1_000),
      message: setting(size('1KiB', '64MiB'), 'Size of one request.', '1MiB'),
      headerList: setting(size('1KiB', '1MiB'), 'Size of the headers of one call.', '16KiB'),
      halfOpen: setting(duration('1s', '5m'), 'How long a connection may take until its HTTP/2 preface is there.', '10s'),
      stalledWrite: setting(duration('1s', '1h'), 'How long a client may leave a response unread before its stream ends.', '120s'),
      controlFrames: setting(
        integer(10, 1_000_000),
        'HTTP/2 control frames (reset, settings, ping, empty data, continuation) per second on one connection.',
        1_000,
      ),
    },
  };
}

type Simplify<T> = { readonly [K in keyof T]: T[K] } & {};

type MayBeAbsent<T, K extends keyof T> = T[K] extends Setting<infer V, string> ? (undefined extends V ? K : never) : never;

type TypedKey<K, S> = K extends string ? (S extends Setting<unknown, infer Suffix> ? `${K}${Suffix}` : K) : never;

type TypedValue<S> = S extends Setting<infer V, string> ? DeepReadonly<Exclude<V, undefined>> : Typed<S>;

type DeepReadonly<V> = V extends string | number | boolean | HostPort ? V : { readonly [K in keyof V]: DeepReadonly<V[K]> };

/** The values of a table: settings become their values, keys with a unit get it as suffix, optional ones may be absent. */
export type Typed<T> = Simplify<
  { [K in keyof T as K extends MayBeAbsent<T, K> ? never : TypedKey<K, T[K]>]: TypedValue<T[K]> } & {
    [K in keyof T as K extends MayBeAbsent<T, K> ? TypedKey<K, T[K]> : never]?: TypedValue<T[K]>;
  }
>;

/** A setting with its place in the table and the names that follow from it. */
export interface NamedSetting {
  readonly path: string;
  readonly keys: readonly string[];
  readonly setting: Setting<unknown, string>;
  /** SIGNET_ and the path in upper snake; undefined for lists and mappings, which stand in the file only. */
  readonly variable: string | undefined;
  /** The path in kebab, without dashes in front; undefined as above. */
  readonly flag: string | undefined;
}

export interface Section {
  readonly [key: string]: Section | Setting<unknown, string>;
}

export function isSetting(entry: Section | Setting<unknown, string>): entry is Setting<unknown, string> {
  return 'schema' in entry && 'sentence' in entry;
}

/** The table as a list, in its order. */
export function listSettings(table: Section = settings(), above: readonly string[] = []): NamedSetting[] {
  return Object.entries(table).flatMap(([key, entry]) => {
    const keys = [...above, key];
    if (!isSetting(entry)) return listSettings(entry, keys);
    const words = keys.flatMap((part) => part.split(/(?=[A-Z])/)).map((word) => word.toLowerCase());
    const variable = entry.fileOnly ? undefined : `SIGNET_${words.join('_').toUpperCase()}`;
    return [{ path: keys.join('.'), keys, setting: entry, variable, flag: entry.fileOnly ? undefined : words.join('-') }];
  });
}
