// The part of the catalogue of reasons that is about upstream CAs: why one gives no certificate, and why what it gives is not used.
// Part of reasons.ts; the checks of an answer are in ca/ca-client.ts and x509.

/** The CA cannot be asked, or refuses. */
export const caReasons = {
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
} as const;

/** Of requests that are objects at the API server. */
export const requestReasons = {
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
} as const;

/** The CA answers with certificates that must not be used. */
export const answerReasons = {
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
} as const;
