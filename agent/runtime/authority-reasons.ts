// The part of the catalogue of reasons that `signet ca` and the local CA endpoint decide by: why a caller gets no certificate. The audit
// log and the metrics of decisions name these; callers of `signet ca` see none of it. Part of reasons.ts.

export const authorityReasons = {
  'token-missing': { sentence: 'The call brings no bearer token.', action: 'Send a service account token in the authorization header.' },
  'token-malformed': {
    sentence: 'What the call brings as its token is no service account token.',
    action: 'Send a projected service account token.',
  },
  'token-expired': { sentence: 'The token is expired.', action: 'Check that the kubelet renews it, and the clocks of both sides.' },
  'token-audience': {
    sentence: 'The token is for another audience.',
    action: 'Give the projected token one of the audiences of signet ca, or of localCa.',
  },
  'token-refused': {
    sentence: 'The API server does not accept the token.',
    action: 'Nothing, if its pod has just gone; else check that the token is of this cluster.',
  },
  'token-unbound': {
    sentence: 'The token is bound to no pod.',
    action: 'Use a projected token: one that the kubelet asked for is bound to its pod.',
  },
  'caller-no-account': { sentence: 'The caller is no service account.', action: 'Call with the token of a service account.' },
  'cluster-unknown': {
    sentence: 'The call names a cluster that signet ca does not know.',
    action: 'Set clusterId of the upstream, or cluster.id, cluster.aliases or clusters of signet ca.',
  },
  'caller-pod-gone': { sentence: 'The pod that the token is bound to is gone.', action: 'Nothing; a token ends with its pod.' },
  'caller-pod-replaced': {
    sentence: 'The pod that the token is bound to is gone, and another one has its name.',
    action: 'Nothing; the new pod has a token of its own.',
  },
  'caller-pod-differs': {
    sentence: 'The pod of the caller has another account or node than its token says.',
    action: 'Find out how this token came to be: the API server makes none like it.',
  },
  'caller-pod-finished': {
    sentence: 'The pod of the caller has ended, or stands for a static pod.',
    action: 'Nothing; an ended pod has no identity.',
  },
  'caller-no-node-agent': {
    sentence: 'The caller asks for the identity of another account and is no agent of a node.',
    action: 'Add its account to nodeAgents of signet ca, or to localCa.delegates, if it is one.',
  },
  'identity-invalid': {
    sentence: 'What is asked for is no identity.',
    action: 'Ask for spiffe://<trust domain>/ns/<namespace>/sa/<service account>.',
  },
  'identity-foreign': {
    sentence: 'The identity that is asked for belongs to another trust domain.',
    action: 'Make trustDomain the same for whoever asks and whoever signs.',
  },
  'identity-denied': {
    sentence: 'No agent of a node may have this identity.',
    action: 'Change deny of signet ca if one may.',
  },
  'identity-not-on-node': {
    sentence: 'No pod with this identity is on the node of the caller.',
    action: 'Nothing, if the pod has just moved; else find out why the agent asks for it.',
  },
  'identity-finished': {
    sentence: 'The pods with this identity on the node of the caller have all ended, or stand for static pods.',
    action: 'Nothing; an ended pod has no identity.',
  },
  'csr-malformed': { sentence: 'The certificate request cannot be read.', action: 'Send one PKCS#10 request as PEM, at most 16 KiB.' },
  'csr-signature': {
    sentence: 'The certificate request is not signed by its own key.',
    action: 'Correct the client: it must hold the key that it has certified.',
  },
  'csr-key': {
    sentence: 'The key of the certificate request is of a type or size that is not certified.',
    action: 'Use another key, or add its type to csr.keyTypes of signet ca.',
  },
  'csr-key-reused': {
    sentence: 'The key was certified for another identity before.',
    action: 'Make a new key for each identity.',
  },
  'csr-other-name': {
    sentence: 'The certificate request names another identity than the one that is asked for.',
    action: 'Name that identity alone, or set csr.extras of signet ca to ignore.',
  },
  'csr-extra-name': {
    sentence: 'The certificate request asks for more names than its identity.',
    action: 'Leave them out, or set csr.extras of signet ca to ignore, which leaves them out of the certificate.',
  },
  'csr-extra-extension': {
    sentence: 'The certificate request asks for extensions.',
    action: 'Leave them out, or set csr.extras of signet ca to ignore, which leaves them out of the certificate.',
  },
  'csr-extra-attribute': {
    sentence: 'The certificate request has attributes beside its extensions, such as a challenge password.',
    action: 'Leave them out, or set csr.extras of signet ca to ignore, which heeds none of them.',
  },
  'csr-usages': {
    sentence: 'The request object asks for other usages than those of a certificate of a workload.',
    action: 'Ask for digital signature, client auth and server auth; key encipherment may be there too.',
  },
  'request-annotations': {
    sentence: 'The request object has annotations for the signer, which knows none.',
    action: 'Leave out userAnnotations of the podCertificate volume.',
  },
  'lifetime-refused': {
    sentence: 'The lifetime that is asked for is out of bounds.',
    action: 'Ask for less, or change certificate.maxLifetime of signet ca.',
  },
  'message-too-large': {
    sentence: 'The call ended before its message was taken: it was too large, or never came whole.',
    action: 'Send a certificate request of usual size.',
  },
  'busy': {
    sentence: 'More calls are under way than may be.',
    action: 'Nothing, since callers try again; add replicas of signet ca or raise its limits.calls if it lasts.',
  },
  'call-late': {
    sentence: 'The call took longer than one may take.',
    action: 'Check the load of the server, and of its API server and upstreams.',
  },
  'index-unread': {
    sentence: 'The pods of the cluster have not been read yet.',
    action: 'Wait; if it lasts, check that signet ca may list and watch pods.',
  },
  'index-stale': {
    sentence: 'The pods of the cluster could not be followed for too long.',
    action: 'Check that the API server runs, and that signet ca may list and watch pods.',
  },
  'requests-unread': {
    sentence: 'The request objects have not been read yet.',
    action: 'Wait; if it lasts, check that signet ca may list and watch them.',
  },
  'requests-unanswered': {
    sentence: 'Request objects cannot be answered now.',
    action: 'Correct what the detail says; they wait and are tried again.',
  },
  'audit-failed': { sentence: 'The audit line cannot be written.', action: 'Check the space and the rights of audit.file.' },
} as const;
