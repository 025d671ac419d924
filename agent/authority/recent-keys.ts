// Which identity a key was last certified for, as far as this process remembers: a key that two identities share makes each of
// them the other. Used by the service. Bounded; the oldest are forgotten.

export interface RecentKeys {
  /** Whether the key may be certified for this identity, which is remembered: false when it is that of another one. */
  claim(spkiSha256: string, uri: string): boolean;
}

export function createRecentKeys(limit = 100_000): RecentKeys {
  const known = new Map<string, string>();
  return {
    claim(spkiSha256, uri) {
      const before = known.get(spkiSha256);
      if (before !== undefined && before !== uri) return false;
      // Put in anew, it is the youngest.
      known.delete(spkiSha256);
      known.set(spkiSha256, uri);
      for (const [oldest] of known) {
        if (known.size <= limit) break;
        known.delete(oldest);
      }
      return true;
    },
  };
}
