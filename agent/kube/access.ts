// The access of this process to the API server: by the kubeconfig of the settings, else as the pod that it runs in.
// Used by the wirings. Promises: nothing is read and nothing is connected before the first call.

import type { CommonMetrics } from '../metrics.js';
import { SignetError } from '../runtime/errors.js';
import type { Logger } from '../runtime/log.js';
import type { Clock } from '../runtime/time.js';
import type { KubeClient } from './client.js';
import { createKubeClient } from './client.js';
import type { Credential } from './credentials.js';
import { createInClusterCredential, inClusterServer } from './credentials.js';
import { createKubeconfigCredential } from './kubeconfig.js';

export interface CredentialOptions {
  /** Path of a kubeconfig. Default: the account of our own pod. */
  readonly kubeconfig?: string | undefined;
  /** For KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: CommonMetrics;
}

export interface KubeAccessOptions extends CredentialOptions {
  readonly node: string;
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

/** Who this process is: without a kubeconfig and outside of pods nobody, which the first call says. */
export function createCredential({ kubeconfig, env, clock, log, metrics }: CredentialOptions): Credential {
  if (kubeconfig !== undefined) return createKubeconfigCredential({ path: kubeconfig, clock, log });
  const server = inClusterServer(env);
  return server === undefined ? withoutCredential : createInClusterCredential({ server, clock, log, metrics });
}

export function createKubeAccess(options: KubeAccessOptions): KubeAccess {
  return accessWith(createCredential(options), options);
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
