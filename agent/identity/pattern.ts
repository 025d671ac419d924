// Patterns of identities and accounts, as rules have them: each `*` stands for any characters but the slash. Used by grants of peers and
// by the decision of the CA. Pure; part by part and without regular expressions, so that none backtracks.

/** Whether all of the text is as the pattern says. */
export function matchesPattern(pattern: string, text: string): boolean {
  const wanted = pattern.split('/');
  const parts = text.split('/');
  return wanted.length === parts.length && wanted.every((part, index) => matchesPart(part, parts[index] ?? ''));
}

// Greedy from the left: each literal is looked for after the one before; the last one is anchored at the end.
function matchesPart(pattern: string, text: string): boolean {
  const literals = pattern.split('*');
  const first = literals[0] ?? '';
  if (literals.length === 1) return first === text;
  const last = literals[literals.length - 1] ?? '';
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const literal of literals.slice(1, -1)) {
    const found = text.indexOf(literal, at);
    if (found < 0) return false;
    at = found + literal.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
