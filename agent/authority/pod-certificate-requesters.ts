// Who may create PodCertificateRequests, as RBAC says: told once at the start, since each of them could have a certificate for any
// pod, where no admission policy stops them. Run by request-signers.ts. Nodes have the right from the Node authorizer, which checks
// them, and are not in RBAC.

import type { KubeClient, KubeObject } from '../kube/client.js';
import { listAll } from '../kube/list.js';
import type { Logger } from '../runtime/log.js';
import { errorFields } from '../runtime/log.js';

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const maxTold = 50;

/** One line: who, or that it cannot be told. Never rejects. */
export async function tellRequesters(client: KubeClient, log: Logger, signal: AbortSignal): Promise<void> {
  try {
    const list = async (resource: string): Promise<readonly KubeObject[]> =>
      (await listAll(client, { path: `${rbac}/${resource}`, newest: false }, signal)).items;
    const [clusterRoles, roles] = [await list('clusterroles'), await list('roles')];
    const bindings = [...(await list('clusterrolebindings')), ...(await list('rolebindings'))];
    const subjects = findRequesters([...clusterRoles, ...roles], bindings);
    log.info('besides nodes these may create podcertificaterequests', { count: subjects.length, subjects: subjects.slice(0, maxTold) });
  } catch (error) {
    if (!signal.aborted) log.info('cannot tell who besides nodes may create podcertificaterequests', errorFields(error));
  }
}

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly verbs?: readonly string[];
}

interface Subject {
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
}

/** `<kind> <name>` of each subject whose role has the right; with `in <namespace>` where it has it there alone. */
export function findRequesters(roles: readonly KubeObject[], bindings: readonly KubeObject[]): readonly string[] {
  const able = new Set(roles.filter(mayCreate).map(({ metadata }) => keyOf(metadata?.namespace, metadata?.name)));
  const found = bindings.flatMap((binding) => {
    const { namespace } = binding.metadata ?? {};
    const { kind, name } = (binding['roleRef'] ?? {}) as Subject;
    if (!able.has(keyOf(kind === 'Role' ? namespace : undefined, name))) return [];
    const place = namespace === undefined ? '' : ` in ${namespace}`;
    return ((binding['subjects'] ?? []) as readonly Subject[]).map((subject) => `${formatSubject(subject)}${place}`);
  });
  return [...new Set(found)].sort();
}

const keyOf = (namespace = '', name = ''): string => `${namespace}/${name}`;

function mayCreate(role: KubeObject): boolean {
  const has = (values: readonly string[] = [], wanted: string): boolean => values.includes(wanted) || values.includes('*');
  return ((role['rules'] ?? []) as readonly Rule[]).some(
    ({ apiGroups, resources, verbs }) =>
      has(apiGroups, 'certificates.k8s.io') && has(resources, 'podcertificaterequests') && has(verbs, 'create'),
  );
}

function formatSubject({ kind = '', namespace, name = '' }: Subject): string {
  return `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;
}
