// What a client says about itself in the first request of a stream. Shown to people and the ground of one warning, never of a
// decision: anybody can say anything.

import type { DiscoveryRequest } from './wire.js';

export interface ClientInfo {
  readonly nodeId: string;
  readonly name: string;
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
}

const maxTextLength = 256;

/** Later requests may leave the node out; undefined then. */
export function readClientInfo(node: DiscoveryRequest['node']): ClientInfo | undefined {
  if (node === null || node === undefined) return undefined;
  const version = node.userAgentBuildVersion?.version;
  return {
    nodeId: (node.id ?? '').slice(0, maxTextLength),
    name: (node.userAgentName ?? '').slice(0, maxTextLength),
    major: version?.majorNumber ?? 0,
    minor: version?.minorNumber ?? 0,
    patch: version?.patch ?? 0,
  };
}

/** `envoy 1.36.4` */
export function formatUserAgent({ name, major, minor, patch }: ClientInfo): string {
  return `${name} ${major}.${minor}.${patch}`;
}

/** Envoy before 1.33 refuses every curve but P-256. False for a client that does not say what it is. */
export function refusesP384({ name, major, minor }: ClientInfo): boolean {
  return name === 'envoy' && major === 1 && minor < 33;
}
