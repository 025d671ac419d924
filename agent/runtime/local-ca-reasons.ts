// The part of the catalogue of reasons that is about the local CA endpoint alone; what it shares with `signet ca` is in
// authority-reasons.ts. Part of reasons.ts.

export const localCaReasons = {
  'caller-not-on-node': {
    sentence: 'The pod of the caller does not run on this node.',
    action: 'Let proxies reach the agent of their own node: its Service needs internalTrafficPolicy: Local.',
  },
  'local-ca-unserved': {
    sentence: 'The local CA endpoint cannot listen.',
    action: 'Free the port or change localCa.address; it is tried again.',
  },
  'local-ca-serving': {
    sentence: 'The serving certificate or the root of the local CA endpoint cannot be used or written.',
    action: 'Check the files of localCa.serving, or localCa.rootDirectory; what was shown before stays.',
  },
  'forward-limit': {
    sentence: 'Too many requests of others are under way at once.',
    action: 'Check that the CA answers in time, and find out who asks so often.',
  },
  'forward-half-past': {
    sentence:
      'Half the lifetime of the certificate that the CA gave is over already, so its holder would renew it at once, again and again.',
    action: 'Check the clock of the CA, and how long its own certificate is still valid.',
  },
  'forward-unserved': {
    sentence: 'No upstream takes requests of others as localCa.auth has it.',
    action: 'Add an upstream of the kind istio, or set localCa.auth to upstream; pod-certificate takes none in any case.',
  },
} as const;
