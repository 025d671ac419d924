// `signet ca explain`: what a thief of a node could get from the CA now, by the decision function of the server, on the pods of the
// cluster or on those of a file.

import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { parse } from 'yaml';
import type { ClusterPod } from '../authority/cluster-pod.js';
import { toClusterPod } from '../authority/cluster-pod.js';
import type { Exposure } from '../authority/explain.js';
import { explainNode } from '../authority/explain.js';
import type { Policy } from '../authority/node-authorizer.js';
import { PodSet } from '../authority/pod-index.js';
import type { CaConfig } from '../config.js';
import { createSpiffeId, isNamespace, isServiceAccount } from '../identity/spiffe-id.js';
import type { KubeObject } from '../kube/client.js';
import { listAll } from '../kube/list.js';
import { SignetError } from '../runtime/errors.js';
import { reasons } from '../runtime/reasons.js';
import { formatInstant, systemClock } from '../runtime/time.js';
import { loadFromCaOptions, toJson, withKubeClient } from './ca-options.js';
import { formatTable } from './format.js';
import { addCaSettingOptions } from './setting-options.js';
import type { Terminal } from './terminal.js';

interface Options {
  readonly node: string;
  readonly identity?: string;
  readonly diff?: string;
  readonly pods?: string;
  readonly json?: true;
}

export function createExplainCommand(terminal: Terminal): Command {
  const command = new Command('explain')
    .description('what a thief of a node could get now, and the rule that refuses the rest')
    .requiredOption('--node <name>', 'the node')
    .option('--identity <id>', 'only about this SPIFFE ID, or <namespace>/<service account>')
    .option('--diff <name>', 'what this other node gives more and less')
    .option('--pods <file>', 'the pods of the cluster as `kubectl get pods -A -o json` prints them (default: asked for)')
    .option('--json', 'print JSON');
  return addCaSettingOptions(command).action(async ({ node, identity: asked, diff, pods: file, json, ...settings }: Options) => {
    const { config } = loadFromCaOptions(settings);
    const identity = asked === undefined ? undefined : toIdentity(asked, config.trustDomain);
    const pods = new PodSet(file === undefined ? await listPods(config, terminal.signal) : readPods(file));
    const policy: Policy = { trustDomain: config.trustDomain, nodeAgents: new Set(config.nodeAgents), deny: config.deny };
    const exposure = explainNode(policy, pods, node, identity);
    const goodUntil = formatInstant(systemClock.now() + config.certificate.maxLifetimeMs);
    if (diff !== undefined) {
      const difference = compare({ node, ...exposure }, { node: diff, ...explainNode(policy, pods, diff, identity) });
      terminal.out(json === true ? toJson(difference) : formatDiff(difference));
    } else {
      terminal.out(json === true ? toJson({ node, goodUntil, ...exposure }) : formatExposure(node, exposure, goodUntil));
    }
  });
}

/** The short form stands for an identity of the trust domain; anything else is taken as a caller of the CA could send it. */
function toIdentity(asked: string, trustDomain: string): string {
  const [namespace = '', serviceAccount = '', ...rest] = asked.split('/');
  const isShort = rest.length === 0 && isNamespace(namespace) && isServiceAccount(serviceAccount);
  return isShort ? createSpiffeId(trustDomain, namespace, serviceAccount).uri : asked;
}

async function listPods(config: CaConfig, signal: AbortSignal): Promise<readonly ClusterPod[]> {
  const { items } = await withKubeClient(config, signal, (client) => listAll(client, { path: '/api/v1/pods', newest: true }, signal));
  return items.map(toClusterPod).filter((pod) => pod !== undefined);
}

function readPods(path: string): readonly ClusterPod[] {
  let items: unknown;
  try {
    const text = readFileSync(path, 'utf8');
    // JSON is YAML too, but many times quicker to read.
    items = ((text.startsWith('{') ? JSON.parse(text) : parse(text)) as { readonly items?: unknown } | null)?.items;
  } catch (error) {
    throw new SignetError('invalid', 'read the pods', { cause: error, fields: { path } });
  }
  if (!Array.isArray(items)) throw new SignetError('invalid', 'the file holds no list of pods', { fields: { path } });
  return items.map((item) => toClusterPod(item as KubeObject)).filter((pod) => pod !== undefined);
}

/** What can be had first, then the rest. */
export function formatExposure(node: string, { pods, obtainable, refused }: Exposure, goodUntil: string): string {
  const had = obtainable.map(({ identity, rule, by, through }) => [
    identity,
    rule === 'node' ? 'as node agent' : 'own token',
    `${by.namespace}/${by.name}`,
    `${through.namespace}/${through.name} (${through.phase})`,
  ]);
  const not = refused.map(({ identity, reason, detail }) => [
    identity,
    reason,
    `${reasons[reason].sentence}${detail === '' ? '' : ` (${detail})`}`,
  ]);
  return [
    pods === 0 ? `No pod is on a node of the name ${node}.\n` : '',
    had.length === 0
      ? `A thief of node ${node} gets no identity.\n`
      : `A thief of node ${node} gets ${count(had.length)}, each as long as a pod of it is there; certificates got now are good until ${goodUntil} at most:\n`,
    ...(had.length === 0 ? [] : [formatTable([['IDENTITY', 'RULE', 'WITH THE TOKEN OF', 'THROUGH POD'], ...had])]),
    ...(not.length === 0 ? [] : [`\nRefused: ${count(not.length)}\n`, formatTable([['IDENTITY', 'REASON', ''], ...not])]),
  ].join('');
}

const count = (identities: number): string => `${identities} ${identities === 1 ? 'identity' : 'identities'}`;

interface NodeExposure extends Exposure {
  readonly node: string;
}

/** A node, and how many pods are on it. */
type ComparedNode = Pick<NodeExposure, 'node' | 'pods'>;

interface Difference {
  readonly first: ComparedNode;
  readonly second: ComparedNode;
  readonly onlyFirst: readonly string[];
  readonly onlySecond: readonly string[];
  readonly both: number;
}

function compare(first: NodeExposure, second: NodeExposure): Difference {
  const names = (exposure: Exposure): ReadonlySet<string> => new Set(exposure.obtainable.map(({ identity }) => identity));
  const [a, b] = [names(first), names(second)];
  return {
    first: { node: first.node, pods: first.pods },
    second: { node: second.node, pods: second.pods },
    onlyFirst: [...a].filter((name) => !b.has(name)),
    onlySecond: [...b].filter((name) => !a.has(name)),
    both: [...a].filter((name) => b.has(name)).length,
  };
}

function formatDiff({ first, second, onlyFirst, onlySecond, both }: Difference): string {
  const list = (sign: string, names: readonly string[]): string => names.map((name) => `${sign} ${name}\n`).join('');
  const head = ({ node, pods }: ComparedNode): string => `${node}, with ${pods} pods`;
  return `- ${head(first)}\n+ ${head(second)}\n${list('-', onlyFirst)}${list('+', onlySecond)}From both: ${count(both)}\n`;
}
