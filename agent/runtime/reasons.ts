// The closed catalogue of reasons: why something is not as it should be, in words for people, and what to change.
// Logs, metrics, status, readiness and (later) doctor speak from it; code paths name an entry by its code.
// A test reaches every entry by a real scene.

import { authorityReasons } from './authority-reasons.js';
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
  // Upstream CA
  'ca-unavailable': {
    sentence: 'The CA cannot be reached.',
    action: 'Check that the CA runs, that endpoints of the upstream names it, and that this node reaches it.',
  },
  'ca-deadline': { sentence: 'The CA did not answer in time.', action: 'Check the load and health of the CA.' },
  'ca-denied': {
    sentence: 'The CA refused to issue this certificate.',
    action: 'Check the log of the CA for the refusal and the rights of this agent there.',
  },
  'ca-refused-request': {
    sentence: 'The CA says the request is not valid.',
    action: 'Check key type, lifetime and subject settings against what the CA accepts.',
  },
  'ca-failed': { sentence: 'The CA failed while it handled the request.', action: 'Check the log of the CA.' },
  'ca-roots-missing': {
    sentence: 'There is no root to verify the connection to the CA with.',
    action: 'Check the source under tls.roots of the upstream; it is used as soon as it has a root.',
  },
  'ca-root-unknown': {
    sentence: 'The CA shows a certificate that does not chain to a root under tls.roots.',
    action: 'Add the root that the CA is reached by to tls.roots of the upstream; the change is followed.',
  },
  'ca-name-mismatch': {
    sentence: 'The CA shows a certificate for another name.',
    action: 'Set tls.serverName of the upstream to a name in the certificate, or correct the endpoint.',
  },
  'ca-tls': {
    sentence: 'The connection to the CA cannot be secured.',
    action: 'Check the serving certificate of the CA and its dates, and that the endpoint speaks TLS.',
  },
  'ca-token-missing': { sentence: 'The token for the CA is missing.', action: 'Check the projected volume and tokenFile of the upstream.' },
  'ca-token-invalid': {
    sentence: 'The file of the token for the CA holds something else.',
    action: 'Mount a projected service account token at tokenFile.',
  },
  'ca-token-audience': {
    sentence: 'The token for the CA is for another audience, so it is not sent.',
    action: 'Set the audience of the projected token, or audience of the upstream, to what the CA expects.',
  },
  'ca-token-expired': {
    sentence: 'The token for the CA is expired, so it is not sent.',
    action: 'Check that the kubelet renews it, and the clock of this node; it is used as soon as the file is new.',
  },
  'ca-unauthenticated': {
    sentence: 'The CA does not accept the token.',
    action: 'Check that audience and clusterId of the upstream are what the CA expects, and that the CA reaches its API server.',
  },
  'ca-cluster-unknown': {
    sentence: 'The CA does not know the cluster.',
    action: 'Set clusterId of the upstream to the name that the CA has for this cluster.',
  },
  'ca-impersonation-refused': {
    sentence: 'The CA does not let whoever asks have the identity of a pod.',
    action:
      'Add the account (of the agent, or of the caller of the local CA) to the trusted node accounts of the CA (CA_TRUSTED_NODE_ACCOUNTS), set clusterId, and check that the CA sees both pods on this node.',
  },
  'ca-lifetime-refused': {
    sentence: 'The CA does not issue certificates of such a lifetime.',
    action: 'Lower certificate.lifetime; meanwhile less is asked for.',
  },
  // Request objects at the API server
  'request-denied': {
    sentence: 'The request was denied.',
    action: 'Check the rules of the approver for this identity, account and node; the detail has its words.',
  },
  'request-failed': { sentence: 'The signer failed the request.', action: 'Check the log of the signer; the detail has its words.' },
  'request-deleted': {
    sentence: 'The request was deleted before it was answered.',
    action: 'Find out who deletes such requests, unless it was a clean-up; it is made anew.',
  },
  'request-unanswered': {
    sentence: 'Nobody approved or refused the request in time.',
    action: 'Check that the approver and the signer that the upstream names run; the request stays for the next attempt.',
  },
  'request-unsigned': {
    sentence: 'The request was approved but not signed in time.',
    action: 'Check that a signer serves the signerName or issuerRef of the upstream.',
  },
  'request-unserved': {
    sentence: 'The API server does not serve the kind of request that the upstream makes.',
    action: 'Install cert-manager, or switch on PodCertificateRequest (on in Kubernetes 1.37, a feature gate before).',
  },
  'request-signer-denied': {
    sentence: 'The API server does not let this node ask the signer for the pod.',
    action: 'Bind the verb request-serviceaccounts-podcertificate-signer on the signer to system:nodes, or mount it into the pod.',
  },
  'request-as-node': {
    sentence: 'The credential for the API server is that of a node, and CertificateSigningRequests are made by an account only.',
    action: 'Give the agent an account of its own in kubeconfig, or use pod-certificate.',
  },
  // Answers of a CA
  'answer-empty': {
    sentence: 'The CA answered without a certificate.',
    action: 'Check the log of the CA; this answer is a fault of the CA.',
  },
  'answer-too-large': {
    sentence: 'The answer of the CA is over the limits on size or number of certificates.',
    action: 'Shorten the chain that the CA returns.',
  },
  'pem-invalid': {
    sentence: 'The answer of the CA holds something that is not a certificate.',
    action: 'Check the chain files that the CA serves.',
  },
  'key-mismatch': {
    sentence: 'The certificate is for another key than the one requested.',
    action: 'Check the CA for cached or mixed-up answers.',
  },
  'san-mismatch': {
    sentence: 'The certificate does not name exactly the requested SPIFFE ID.',
    action: 'Check that trustDomain is that of the CA, and that it issues for the requested identity and adds no names.',
  },
  'trust-anchor-unknown': {
    sentence: 'The certificate does not chain to a root that this upstream may chain to.',
    action: 'Add the root of this CA to the trust bundle, or correct the CA.',
  },
  'signature-invalid': {
    sentence: 'A certificate of the chain is not signed by the issuer it names.',
    action: 'Check for two CAs with the same name and different keys.',
  },
  'issuer-not-allowed': {
    sentence: 'An issuer in the chain may not issue this certificate (CA flag, key usage, path length or name constraints).',
    action: 'Correct the CA certificates in the chain.',
  },
  'certificate-expired': {
    sentence: 'A certificate of the chain is expired.',
    action: 'Renew the expired CA certificate, or correct the clock of this node or of the CA.',
  },
  'certificate-not-yet-valid': {
    sentence: 'The certificate is not valid yet, beyond the tolerated difference of clocks.',
    action: 'Correct the clock of this node or of the CA.',
  },
  'leaf-not-allowed': {
    sentence: 'The certificate is no valid leaf (CA flag, key usage or extended key usage).',
    action: 'Correct the profile of the CA: digitalSignature, serverAuth and clientAuth, no CA flag.',
  },
  'key-weak': {
    sentence: 'A key in the chain is weaker than allowed.',
    action: 'Use RSA of at least 2048 bits or EC P-256 or P-384 for the CA.',
  },
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
  'bundle-invalid': {
    sentence: 'A source of roots holds something that is not a root certificate.',
    action: 'Correct the file; the last good roots stay in use.',
  },
  'root-expired': {
    sentence: 'A root certificate is expired and left out of the trust bundle.',
    action: 'Remove it from its source, or correct the clock of this node.',
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
  'kube-config-invalid': {
    sentence: 'There is no usable access to the API server.',
    action: 'Run in a pod with a service account, or correct the file that kubeconfig names.',
  },
  'kube-token-missing': { sentence: 'The token for the API server is missing.', action: 'Check that the token is mounted into the pod.' },
  'kube-token-expired': {
    sentence: 'The token for the API server is expired.',
    action: 'Check that the kubelet renews it, and the clock of this node; it is used as soon as the file is new.',
  },
  'kube-unavailable': {
    sentence: 'The API server cannot be reached or fails.',
    action: 'Check that it runs and that this node reaches its address; what was read before stays in use.',
  },
  'kube-deadline': {
    sentence: 'The API server did not answer in time.',
    action: 'Check its load and the network; what was read before stays in use.',
  },
  'kube-tls': {
    sentence: 'The API server cannot be verified.',
    action: 'Check the CA file or kubeconfig against the certificate that the server shows.',
  },
  'kube-unauthenticated': {
    sentence: 'The API server does not accept the credential.',
    action: 'Check that the token or client certificate is of this cluster and not expired or revoked.',
  },
  'kube-denied': { sentence: 'The API server refused a right.', action: 'Grant the right that is named.' },
  'kube-answer-invalid': {
    sentence: 'The API server gave an answer that cannot be used.',
    action: 'Check that the address is that of an API server and of no proxy before it.',
  },
  'node-mismatch': {
    sentence: 'The credential for the API server is not of this node.',
    action: 'Correct node, or use the credential of this node or a token that is bound to a pod on it.',
  },
  'node-impersonation-denied': {
    sentence: 'This agent may not act as its node.',
    action: 'Bind the rules that are named to the account of the agent, as pods-as-node and workload-tokens of packaging/kustomize do.',
  },
  'node-impersonation-missing': {
    sentence: 'The API server lets no account act as its node.',
    action: 'Use Kubernetes 1.36 or newer, or the feature gate ConstrainedImpersonation; else another source of pods and auth node.',
  },
  'token-audience-denied': {
    sentence: 'The API server does not let this node have tokens for the audience of the CA.',
    action: 'Bind the verb request-serviceaccounts-token-audience on the audience to the group system:nodes.',
  },
  'token-pod-denied': {
    sentence: 'The API server gives no token for this pod: it is not on this node, is gone, or was made anew.',
    action: 'Nothing, if the pod has just moved; else check the node name and the credential of this agent.',
  },
  'kubelet-unavailable': {
    sentence: 'The kubelet cannot be reached or fails.',
    action: 'Check that it runs and listens at the address; what was read before stays in use.',
  },
  'kubelet-deadline': {
    sentence: 'The kubelet did not answer in time.',
    action: 'Check its load, and that it reaches the API server, which it asks about every caller.',
  },
  'kubelet-tls': {
    sentence: 'The kubelet cannot be verified.',
    action: 'Set pods.kubelet.ca, serverName or pin to what the kubelet shows; one that signs its own certificate needs pin.',
  },
  'kubelet-unauthenticated': {
    sentence: 'The kubelet does not accept the credential.',
    action: 'Switch on webhook authentication of the kubelet, or use another source.',
  },
  'kubelet-denied': { sentence: 'The kubelet refused a right.', action: 'Grant get on nodes/pods; it takes effect within 30 s.' },
  'kubelet-answer-invalid': {
    sentence: 'The kubelet gave an answer that cannot be used.',
    action: 'Check that the address is that of the kubelet.',
  },
  'pods-api-unavailable': {
    sentence: 'The Pods API of the kubelet cannot be used.',
    action: 'Use Kubernetes 1.37 or the feature gate PodsAPI, mount the directory of its socket, and run as root.',
  },
  'pods-api-not-ready': { sentence: 'The kubelet has not read all of its pods yet.', action: 'Wait; the kubelet is starting.' },
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
