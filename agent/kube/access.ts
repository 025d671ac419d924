// The access of this process to the API server: by the kubeconfig of the settings, else as the pod that it runs in.
// Used by agent.ts. Promises: nothing is read and nothing is connected before the first call.

import type { Metrics } from '../metrics.js';
import { SignetError } from '../runtime/errors.js';
import type { Logger } from '../runtime/log.js';
import type { Clock } from '../runtime/time.js';
import type { KubeClient } from './client.js';
import { createKubeClient } from './client.js';
import type { Credential } from './credentials.js';
import { createInClusterCredential, inClusterServer } from './credentials.js';
import { createKubeconfigCredential } from './kubeconfig.js';

export interface KubeAccessOptions {
  /** Path of a kubeconfig. Default: the account of our own pod. */
  readonly kubeconfig?: string | undefined;
  /** For KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly node: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

export interface KubeClients {
  /** As whoever the credential says. */
  readonly own: KubeClient;
  /** As this node, by impersonation: the API server (1.36 and newer) gives it what concerns this node and no other. */
  readonly asNode: KubeClient;
}

export interface KubeAccess extends KubeClients {
  readonly credential: Credential;
  /** As nobody: for calls that bring a token of their own. */
  readonly anonymous: KubeClient;
  /** Clients with connections of their own, for the caller to close: they show what a new connection meets. */
  connect(): KubeClients;
}

export function createKubeAccess({ kubeconfig, env, node, clock, log, metrics }: KubeAccessOptions): KubeAccess {
  const server = inClusterServer(env);
  const credential =
    kubeconfig !== undefined
      ? createKubeconfigCredential({ path: kubeconfig, clock, log })
      : server !== undefined
        ? createInClusterCredential({ server, clock, log, metrics })
        : withoutCredential;
  return accessWith(credential, { node, clock, metrics });
}

export function accessWith(
  credential: Credential,
  { node, clock, metrics }: Pick<KubeAccessOptions, 'node' | 'clock' | 'metrics'>,
): KubeAccess {
  const connect = (): KubeClients => ({
    own: createKubeClient({ credential, clock, metrics }),
    asNode: createKubeClient({ credential, as: `system:node:${node}`, clock, metrics }),
  });
  const anonymous = createKubeClient({ credential: withoutIdentity(credential), clock, metrics });
  return { credential, ...connect(), anonymous, connect };
}

/** The same server, verified alike; a client certificate would count before the token of a call. */
function withoutIdentity(credential: Credential): Credential {
  return {
    access: async () => {
      const { server, tls } = await credential.access();
      const { cert: _cert, key: _key, ...verified } = tls;
      return { server, tls: verified };
    },
    accessAfter: async () => undefined,
  };
}

const withoutCredential: Credential = {
  access: async () => {
    throw new SignetError('invalid', 'this process runs in no pod, and no kubeconfig is given', { reason: 'kube-config-invalid' });
  },
  accessAfter: async () => undefined,
};
