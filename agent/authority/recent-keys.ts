// Which identity a key was last certified for, as far as this process remembers: a key that two identities share makes each of
// them the other. Used by the service. Bounded; the oldest are forgotten.

export interface RecentKeys {
  /** Whether the key was certified for another identity. */
  isOfAnother(spkiSha256: string, uri: string): boolean;
  remember(spkiSha256: string, uri: string): void;
}

export function createRecentKeys(limit = 100_000): RecentKeys {
  const known = new Map<string, string>();
  return {
    isOfAnother(spkiSha256, uri) {
      const before = known.get(spkiSha256);
      return before !== undefined && before !== uri;
    },
    remember(spkiSha256, uri) {
      known.delete(spkiSha256);
      known.set(spkiSha256, uri);
      for (const [oldest] of known) {
        if (known.size <= limit) break;
        known.delete(oldest);
      }
    },
  };
}
