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
} as const;
