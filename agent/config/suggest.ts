// "Did you mean": the known word closest to a mistyped one. Pure; used for unknown keys, variables and flags.

/** The known word with the least edit distance, if that is small against its length. */
export function closest(word: string, known: readonly string[]): string | undefined {
  let best: { readonly word: string; readonly distance: number } | undefined;
  for (const candidate of known) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance <= Math.max(1, Math.floor(candidate.length / 3)) && distance < (best?.distance ?? Infinity))
      best = { word: candidate, distance };
  }
  return best?.word;
}

/** Levenshtein distance, one row at a time; words over 64 characters are far from everything. */
function editDistance(a: string, b: string): number {
  if (a.length > 64 || b.length > 64) return Infinity;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? Infinity;
}

/** The fault of keys that do not exist; of a single one, with what was probably meant. */
export function unknownKeys(keys: readonly string[], known: readonly string[]): string {
  const meant = keys.length === 1 ? closest(keys[0] ?? '', known) : undefined;
  return meant === undefined ? `is unknown; known here: ${known.join(', ')}` : `is unknown; did you mean ${meant}?`;
}
