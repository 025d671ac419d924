// Grants of an audit log, decided once more on the facts that stand in their lines. Pure; used by `signet ca audit verify`.

import type { AuditRecord } from './audit.js';
import type { ClusterPod } from './cluster-pod.js';
import type { Policy } from './node-authorizer.js';
import { decide } from './node-authorizer.js';
import { PodSet } from './pod-index.js';

/** Why a line of the log is not right; undefined for one that is. Lines come in the order of the log. */
export type CheckLine = (line: string) => string | undefined;

export function createReplay(policy: Policy): CheckLine {
  const serials = new Set<string>();
  return (line) => {
    const record = parseLine(line);
    if (record === undefined) return 'is no audit line';
    if (record.decision !== 'grant') return undefined;
    const { caller, identity, callerPod, through, issued } = record;
    const isComplete = issued !== undefined || record.approvedFor !== undefined;
    if (caller === undefined || identity === undefined || callerPod === undefined || through === undefined || !isComplete) {
      return 'is a grant without what it was decided on';
    }
    if (issued !== undefined) {
      if (serials.has(issued.serial)) return `has the serial number ${issued.serial} of a line before`;
      serials.add(issued.serial);
    }
    const decision = decide({ policy, pods: new PodSet([callerPod, through]) }, { caller, identity });
    if (!decision.granted) return `grants ${identity}, which is refused: ${decision.reason} (${decision.detail})`;
    return decision.rule === record.reason ? undefined : `grants ${identity} by the rule ${record.reason}, but it is ${decision.rule}`;
  };
}

function parseLine(line: string): AuditRecord | undefined {
  try {
    const record = JSON.parse(line) as Partial<AuditRecord> | null;
    const isRecord = record?.decision === 'grant' || record?.decision === 'refuse';
    return isRecord && isPod(record.callerPod) && isPod(record.through) ? (record as AuditRecord) : undefined;
  } catch {
    return undefined;
  }
}

/** Absent, or with all that decisions look at. */
function isPod(pod: unknown): boolean {
  const texts = ['uid', 'namespace', 'name', 'serviceAccount', 'node', 'phase'] satisfies (keyof ClusterPod)[];
  return (
    pod === undefined || (typeof pod === 'object' && pod !== null && texts.every((name) => typeof Reflect.get(pod, name) === 'string'))
  );
}
