// Whether the upstreams can do what a local CA wants of them: faults of settings that are sound alone but not together. Pure; used
// by config.ts.

import type { Fault } from './file.js';
import type { Upstream } from './upstreams.js';

export interface ForwardingSettings {
  readonly upstreams: readonly Pick<Upstream, 'kind'>[];
  readonly certificate: { readonly concurrency: number };
  readonly localCa: { readonly address?: unknown; readonly auth: 'caller' | 'upstream' };
}

export function forwardingFaults({ upstreams, certificate, localCa: { address, auth } }: ForwardingSettings): Fault[] {
  if (address === undefined) return [];
  const faults: Fault[] = [];
  if (auth === 'caller' && !upstreams.some(({ kind }) => kind === 'istio')) {
    faults.push({ path: 'localCa.auth', message: 'must be upstream without an upstream istio: no other takes the token of a caller' });
  }
  if (upstreams.every(({ kind }) => kind === 'pod-certificate')) {
    const message = 'must have one that is not pod-certificate with localCa.address: that kind takes the key, and callers keep theirs';
    faults.push({ path: 'upstreams', message });
  }
  if (certificate.concurrency < 2) {
    faults.push({ path: 'certificate.concurrency', message: 'must be at least 2 with localCa.address: one is left to the agent itself' });
  }
  return faults;
}
