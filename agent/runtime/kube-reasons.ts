// The part of the catalogue of reasons that is about the API server and the kubelet: why they cannot be asked, or refuse. Part of
// reasons.ts.

export const kubeReasons = {
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
} as const;
