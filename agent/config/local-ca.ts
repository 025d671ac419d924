// The settings of the local CA endpoint, for proxies that make their keys themselves, such as stock ztunnel. Part of the table of
// settings.

import * as z from 'zod/mini';
import type { Kind } from './kinds.js';
import { absolutePath, choice, duration, expected, listenAddress, optional } from './kinds.js';
import { audiences, fileOnly, hosts, isAccountName, mapping, names, pathSchema } from './lists.js';
import { quickAck } from './quick-ack.js';
import { setting } from './setting.js';

/** What the endpoint shows: a certificate under a root of this node, or that of files. */
export type LocalCaServing = 'node-root' | { readonly certificate: string; readonly privateKey: string };

export function localCa() {
  return {
    address: setting(
      optional(listenAddress()),
      'Where proxies that make their keys themselves, such as stock ztunnel, have certificates signed: the certificate service of Istio over TLS 1.3. :15812 means all addresses of the pod. Without it there is no such endpoint.',
    ),
    serving: setting(
      serving(),
      'What the endpoint shows. node-root: a certificate under a root of this node, made and renewed by the agent. Or PEM files, which are followed: certificate, with what is between it and its root, and privateKey; signet ca writes such (servingSecrets).',
      'node-root',
    ),
    names: setting(hosts(), 'With node-root: the DNS names and addresses in the certificate, by which proxies reach the endpoint.', [
      'signet-local-ca.signet-system.svc',
      'localhost',
      '127.0.0.1',
      '::1',
    ]),
    rootDirectory: setting(
      absolutePath(),
      'With node-root: where the root is written, as root-cert.pem, for the proxies of this node to mount.',
      ({ mode, directory }) => (mode === 'dev' ? `${directory}/local-ca` : '/run/signet/local-ca'),
    ),
    audiences: setting(audiences(), 'Whom tokens of callers must be for: one of these.', ['istio-ca']),
    delegates: setting(
      names('a list of <namespace>/<service account>', isAccountName),
      'Accounts of node proxies: each of their pods may have the identity of any pod on its node. Every other caller gets its own.',
      ['istio-system/ztunnel'],
    ),
    whenApiServerAway: setting(
      choice('unavailable', 'jwks'),
      'What happens to callers while the API server cannot be asked about their tokens. unavailable: they are told to try again. jwks: tokens are checked against its keys as they were read last, every five minutes; keys count for 15 minutes; revoked tokens pass meanwhile, and the audit line says so.',
      'unavailable',
    ),
    auth: setting(
      choice('caller', 'upstream'),
      'As whom the upstreams are asked. caller: as whoever called, with its token, so that a CA sees what it saw before; for upstreams of the kind istio. upstream: as for certificates of the agent itself.',
      'caller',
    ),
    deadline: setting(duration('1s', '1m'), 'How long one call may take.', '10s'),
    waitForPod: setting(duration('0s', '10s'), 'How long a call waits for a pod that was only just scheduled to this node.', '3s'),
    quickAck: quickAck(),
  };
}

function serving(): Kind<LocalCaServing> {
  const allowed = 'node-root or a mapping of files: certificate, privateKey';
  const files = () => mapping({ certificate: pathSchema(), privateKey: pathSchema() }, allowed);
  return fileOnly(() => z.union([z.literal('node-root'), files()], expected(allowed)), allowed);
}
