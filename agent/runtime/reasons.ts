// The closed catalogue of reasons: why something is not as it should be, in words for people, and what to change.
// Logs, metrics, status, readiness and (later) doctor speak from it; code paths name an entry by its code.
// A test reaches every entry by a real scene.

import { authorityReasons } from './authority-reasons.js';
import { answerReasons, caReasons, requestReasons } from './ca-reasons.js';
import { kubeReasons } from './kube-reasons.js';
import { localCaReasons } from './local-ca-reasons.js';

export interface ReasonText {
  /** One sentence: what is the case. */
  readonly sentence: string;
  /** One sentence: what a person can change. */
  readonly action: string;
}

export const reasons = {
  // Identities
  'issuing': { sentence: 'The first certificate is being issued.', action: 'Wait; the certificate is pushed the moment it exists.' },
  'issued-on-demand': { sentence: 'Nobody has asked for this certificate yet.', action: 'It is issued on demand (certificate.issue).' },
  'not-on-node': {
    sentence: 'No running pod on this node uses this service account.',
    action: 'Check the name, and that a pod with this service account is scheduled to this node.',
  },
  'not-selected': {
    sentence: 'A pod with this service account runs here, but identities.select leaves it out.',
    action: 'Change identities.select so that it includes the pod.',
  },
  'name-invalid': {
    sentence: 'The name is not one that Signet can serve.',
    action:
      'Ask for a SPIFFE ID (spiffe://<trust domain>/ns/<namespace>/sa/<service account>), default, ROOTCA, ALL or spiffe://<trust domain>.',
  },
  'trust-domain-foreign': {
    sentence: 'The name belongs to another trust domain.',
    action: 'Ask for a name in the trust domain of this agent, or correct trustDomain in its configuration.',
  },
  // Upstream CAs
  ...caReasons,
  ...requestReasons,
  ...answerReasons,
  // Issuer of our own
  'issuer-unreadable': {
    sentence: 'The issuer files cannot be read or parsed.',
    action: 'Check path, permissions and format (PEM; key as PKCS#8, SEC1 or PKCS#1, not encrypted).',
  },
  'issuer-not-ca': {
    sentence: 'The issuer certificate is not a CA certificate.',
    action: 'Use a certificate with the CA flag and keyCertSign.',
  },
  'issuer-key-mismatch': {
    sentence: 'The issuer key does not belong to the issuer certificate.',
    action: 'Give the key that belongs to the first certificate of the chain.',
  },
  'issuer-expired': {
    sentence: 'The issuer certificate is expired or not valid yet.',
    action: 'Renew the issuer certificate, or correct the clock of this node.',
  },
  'issuer-weak': { sentence: 'The issuer key is weaker than allowed.', action: 'Use RSA of at least 2048 bits or EC P-256 or P-384.' },
  'issuer-chain-invalid': {
    sentence: 'The issuer certificate does not chain to the given root.',
    action: 'Give the chain from the issuer certificate up to its root.',
  },
  'issuer-directory-unsafe': {
    sentence: 'The directory of the issuer belongs to, or is open to, other users.',
    action: 'Give it to the user of this process with mode 0700.',
  },
  'issuer-unwritable': {
    sentence: 'The issuer cannot be kept in its directory.',
    action: 'Check that the state directory can be written and its file system allows hard links.',
  },
  'issuer-stale': {
    sentence: 'The Secret of the issuer could not be followed for too long: another replica may have replaced the issuer.',
    action: 'Check that the API server runs, and that signet ca may list and watch the Secret.',
  },
  'roots-not-published': {
    sentence: 'The roots of the CA could not be written everywhere; a rotation waits for it.',
    action: 'Do what the refusal says: grant the right that it names, or mend the object.',
  },
  // Sources
  'pods-unread': { sentence: 'The pods have not been read yet.', action: 'Check the sources under pods.sources.' },
  'namespaces-unread': {
    sentence: 'The labels of namespaces have not been read yet, so nobody can tell which pods are in the ambient mesh.',
    action: 'Grant list and watch of namespaces, or set pods.namespaces to false.',
  },
  'pods-file-missing': {
    sentence: 'The pods file cannot be read.',
    action: 'Create the file or correct its path; the last good view stays in use.',
  },
  'pods-file-invalid': {
    sentence: 'The pods file has a fault.',
    action: 'Correct the document and line that are named; the last good view stays in use.',
  },
  'bundle-missing': {
    sentence: 'A source of roots has none yet or cannot be read.',
    action: 'Check the sources under trustBundle.sources; the last good roots stay in use.',
  },
  'bundle-unserved': {
    sentence: 'The API server does not serve ClusterTrustBundles.',
    action: 'Switch on ClusterTrustBundle (on in Kubernetes 1.37, a feature gate since 1.33), or put the roots into a ConfigMap.',
  },
  'bundle-invalid': {
    sentence: 'A source of roots holds something that is not a root certificate.',
    action: 'Correct the file; the last good roots stay in use.',
  },
  'root-expired': {
    sentence: 'A root certificate is expired and left out of the trust bundle.',
    action: 'Remove it from its source, or correct the clock of this node.',
  },
  'root-withdrawn': {
    sentence: 'No published root verifies the certificate any more, so peers may refuse it; a new one is asked for.',
    action: 'Nothing if the CA signs under a published root; else put the root back into its source, or its next one beside it.',
  },
  // What survives a restart
  'pods-restored': {
    sentence: 'The pods are those from before the restart; their source has not been read yet.',
    action: 'Check what the source waits for; meanwhile their certificates are served, and no new ones are asked for.',
  },
  'bundle-restored': {
    sentence: 'The roots are those from before the restart; their source has not been read yet.',
    action: 'Check the sources under trustBundle.sources and tls.roots; meanwhile those roots stay in use.',
  },
  'state-unfit': {
    sentence: 'The state directory is no place for keys, so nothing is kept over a restart.',
    action: 'Put state.directory on a tmpfs, with noswap where swap is on, or set state.sealed to false.',
  },
  'state-unsafe': {
    sentence: 'The state directory or a file of it is a link, or belongs or is open to others.',
    action: 'Give the directory to the user of this process with mode 0700, and find out who changed it.',
  },
  'state-unusable': {
    sentence: 'The sealed state cannot be read or written.',
    action: 'Check the state directory, its free space and the credential.',
  },
  'state-damaged': {
    sentence: 'The sealed state does not open and is not used.',
    action: 'Nothing the first time; where it happens again, find out who changes the file or its key.',
  },
  'state-foreign': {
    sentence: 'The sealed state is of another boot, node, trust domain or format and is not used.',
    action: 'Nothing after a change of these; else find out who put the file there.',
  },
  'state-replayed': {
    sentence: 'The sealed state is older than what was written last and is not used.',
    action: 'Find out who put an old copy into the state directory.',
  },
  // API server and kubelet
  ...kubeReasons,
  // Peers
  'peer-unknown': {
    sentence: 'The calling process is neither a pod of this node nor named by a peer rule.',
    action: 'Add a rule under peers that matches the process.',
  },
  'peer-denied': {
    sentence: 'The caller may not have this name.',
    action: 'Ask for a name that the caller may have, or change the rules under peers.',
  },
  'peer-no-identity': {
    sentence: 'The caller has no identity of its own that default could mean.',
    action: 'Ask for one of the listed names instead of default.',
  },
  'peer-limit': {
    sentence: 'The caller reached a limit on connections, streams, names or opens.',
    action: 'Find out why the caller needs so many, or raise the limit under sds.limits.',
  },
  'peer-rules-invalid': {
    sentence: 'The changed peer rules or selection have a fault.',
    action: 'Correct the configuration file; the rules from before stay in use.',
  },
  // Decisions of signet ca
  ...authorityReasons,
  // The local CA endpoint
  ...localCaReasons,
  // Process
  'http-port-taken': { sentence: 'The HTTP address cannot be bound.', action: 'Free it or change http.address; SDS is served meanwhile.' },
  'clock-differs': {
    sentence: 'The clock of this node differs from that of the API server.',
    action: 'Check time synchronisation; tokens and certificates are good for a time only.',
  },
  'clock-stepped': { sentence: 'The wall clock stepped.', action: 'Check time synchronisation; all due times were looked at anew.' },
  'draining': { sentence: 'The process is stopping.', action: 'Wait for the next instance.' },
} as const satisfies Readonly<Record<string, ReasonText>>;

export type ReasonCode = keyof typeof reasons;

/** A reason as it applies to one thing at one time. */
export interface Reason {
  readonly code: ReasonCode;
  /** What exactly, e.g. the refused check or the file and line; never key material. */
  readonly detail: string;
}

/** The reason as one line for people: sentence, detail, what to change. */
export function formatReason(reason: Reason): string {
  const text: ReasonText = reasons[reason.code];
  return reason.detail === '' ? `${text.sentence} ${text.action}` : `${text.sentence} (${reason.detail}) ${text.action}`;
}
