// How long a new pod takes until the CA authorises a node agent for its account: from the API server's answer to its creation to a
// certificate. Each pod has an account of its own, so that it alone can be the reason.

import { setTimeout as delay } from 'node:timers/promises';
import { caTrustDomain, createRawCaClient, csrFor } from '../fixtures/authority.js';
import { createAccounts } from '../fixtures/cluster-crowd.js';
import { createPod } from '../fixtures/cluster-objects.js';
import type { Cluster } from '../fixtures/cluster.js';
import type { Target } from './ca-targets.js';
import { now } from './measure.js';

export interface NewPods {
  readonly namespace: string;
  /** Where they are, and the agent that calls. */
  readonly node: string;
  readonly token: string;
  readonly count: number;
}

/** Of a node; what it has looked up live at most. */
const everyMs = 100;

/** The first ones let V8 compile what is called. */
const unmeasured = 20;

/** In ms. A call that is refused is made again at once. */
export async function newPods(cluster: Cluster, ca: Target, { namespace, node, token, count }: NewPods): Promise<readonly number[]> {
  const client = createRawCaClient(ca.target, ca.rootsFile);
  const accounts = await createAccounts(cluster, namespace, 'new', unmeasured + count);
  const latencies: number[] = [];
  for (const account of accounts) {
    const identity = `spiffe://${caTrustDomain}/ns/${namespace}/sa/${account}`;
    const csr = await csrFor(identity);
    await createPod(cluster, { namespace, account, node });
    const acceptedAt = now();
    while ((await client.call({ token, identity, csr })).code !== 0);
    latencies.push(now() - acceptedAt);
    await delay(everyMs);
  }
  client.close();
  return latencies.slice(unmeasured);
}
