// Names of secrets as people type them: <namespace>/<service account> stands for the SPIFFE ID in the agent's trust domain.

import type { AdminClient } from '../admin/client.js';
import { createSpiffeId } from '../identity/spiffe-id.js';
import { SignetError, kindOf } from '../runtime/errors.js';

/** The name to ask for; everything but the short form is passed on as it is. The agent knows the trust domain of the short one. */
export async function toFullName(name: string, agent: Pick<AdminClient, 'status'>, signal: AbortSignal): Promise<string> {
  const [namespace = '', serviceAccount, ...rest] = name.split('/');
  if (serviceAccount === undefined || rest.length > 0) return name;
  const { trustDomain } = await agent.status(signal).catch((cause: unknown) => {
    if (kindOf(cause) !== 'denied') throw cause;
    throw new SignetError('denied', 'only the full name, spiffe://…, does without the control socket', { cause });
  });
  return createSpiffeId(trustDomain, namespace, serviceAccount).uri;
}
