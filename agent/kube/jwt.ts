// The parts of a JSON Web Token as they are, not verified (RFC 7515 §3.1, RFC 7519). Used by whoever reads what a token says of
// itself. Promise: nothing of a token is in an error, since there is none: what is no token is undefined.

/** The content of a part, or undefined when it is no JSON object in base64url. */
export function readJwtPart(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    // The message would quote the part.
    return undefined;
  }
}

/** The claims of a token in the compact form, of three parts; undefined for what is none. */
export function readJwtClaims(token: string): Readonly<Record<string, unknown>> | undefined {
  const [, payload] = /^[A-Za-z0-9_-]+\.([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+$/.exec(token) ?? [];
  return payload === undefined ? undefined : readJwtPart(payload);
}
