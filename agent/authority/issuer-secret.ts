// The issuer in a Secret, with the state of its rotation beside it: read from the object, and the patch that writes a step.
// Used by the owner of the issuer. Takes the Secret of kubernetes.io/tls, Istio's `cacerts` and `istio-ca-secret`, and keeps the
// names that it finds. The key of the next issuer is written once and moved by the API server when it takes over: until then nobody
// decodes it. Text of a Secret passes through JSON, whose strings cannot be wiped; what is decoded from it is.

import type { KeyObject } from 'node:crypto';
import { createPrivateKey } from 'node:crypto';
import * as z from 'zod/mini';
import type { KubeObject } from '../kube/client.js';
import type { PatchOperation } from '../kube/objects.js';
import { SignetError } from '../runtime/errors.js';
import { formatInstant, parseInstant } from '../runtime/time.js';
import type { Certificate } from '../x509/certificate.js';
import type { Issuer } from '../x509/issuer.js';
import { createIssuer } from '../x509/issuer.js';
import { formatCertificates, readCertificates } from '../x509/pem.js';
import type { RotationState } from './rotation.js';

export interface IssuerSecret {
  /** resourceVersion. */
  readonly version: string;
  readonly issuer: Issuer;
  readonly state: RotationState;
  /** How often the state was written; a lower one than before is that of an older copy which somebody put back. */
  readonly generation: number;
  /** Where in its data the issuer stands. */
  readonly names: Names;
}

interface Names {
  readonly certificate: string;
  readonly privateKey: string;
  readonly roots?: string;
  readonly chain?: string;
}

/** Of a Secret of kubernetes.io/tls, and of those of Istio, of which `istio-ca-secret` has the first two. */
const tlsNames = { certificate: 'tls.crt', privateKey: 'tls.key', roots: 'ca.crt' } as const;
const istioNames = { certificate: 'ca-cert.pem', privateKey: 'ca-key.pem', roots: 'root-cert.pem', chain: 'cert-chain.pem' } as const;

const stateName = 'signet.json';
const nextKeyName = 'signet-next.key';

/** The Secret of a new issuer. */
export function createSecretData(certificate: Certificate, privateKeyPem: Buffer): Readonly<Record<string, string>> {
  const pem = encode(formatCertificates([certificate]));
  return { [tlsNames.certificate]: pem, [tlsNames.privateKey]: privateKeyPem.toString('base64'), [tlsNames.roots]: pem };
}

/** Reads and checks it all. Throws `invalid` with an `issuer-…` reason. */
export function readIssuerSecret({ metadata, data }: KubeObject, now: number): IssuerSecret {
  const values = readData(data);
  const names = namesIn(values);
  const issuer = createIssuer({
    certificates: [...readPem(values, names.certificate), ...readPem(values, names.chain)],
    roots: names.roots === undefined ? undefined : readPem(values, names.roots),
    key: readKey(values, names.privateKey),
    now,
  });
  return { version: metadata?.resourceVersion ?? '', issuer, ...readState(values, issuer), names };
}

/** What makes a Secret say the next state. `nextKey` is the key of a next issuer that was just made, PEM. */
export function operationsTo(before: IssuerSecret, after: RotationState, nextKey?: Buffer): readonly PatchOperation[] {
  const { state, generation, names } = before;
  const at = (name: string): string => `/data/${name}`;
  const put = (name: string, text: string): PatchOperation => ({ op: 'add', path: at(name), value: encode(text) });
  const operations = [put(stateName, formatState(after, generation + 1))];
  if (nextKey !== undefined) operations.push({ op: 'add', path: at(nextKeyName), value: nextKey.toString('base64') });
  const { certificate, roots } = after.issuer;
  if (certificate.fingerprint !== state.issuer.certificate.fingerprint) {
    operations.push(
      { op: 'move', from: at(nextKeyName), path: at(names.privateKey) },
      put(names.certificate, formatCertificates([certificate])),
      ...(names.roots === undefined ? [] : [put(names.roots, formatCertificates(roots))]),
      // That of the issuer before; the new one is its own root.
      ...(names.chain === undefined ? [] : [{ op: 'remove', path: at(names.chain) } as const]),
    );
  } else if (state.next !== undefined && after.next === undefined) {
    operations.push({ op: 'remove', path: at(nextKeyName) });
  }
  return operations;
}

function readData(data: unknown): ReadonlyMap<string, string> {
  const entries = typeof data === 'object' && data !== null ? Object.entries(data) : [];
  // istiod writes names without content, too.
  return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1] !== ''));
}

function namesIn(values: ReadonlyMap<string, string>): Names {
  const known = [tlsNames, istioNames].find(({ certificate }) => values.has(certificate));
  if (known === undefined) throw unreadable('the secret holds no issuer', { expected: [tlsNames.certificate, istioNames.certificate] });
  const { certificate, privateKey, ...optional } = known;
  return { certificate, privateKey, ...Object.fromEntries(Object.entries(optional).filter(([, name]) => values.has(name))) };
}

/** None when there is no such name. */
function readPem(values: ReadonlyMap<string, string>, name = ''): readonly Certificate[] {
  try {
    return readCertificates(Buffer.from(values.get(name) ?? '', 'base64'), { source: name });
  } catch (cause) {
    throw unreadable('certificates of the issuer cannot be read', { name }, cause);
  }
}

function readKey(values: ReadonlyMap<string, string>, name: string): KeyObject {
  const base64 = values.get(name) ?? '';
  // Not from Node's pool, whose memory others get.
  const pem = Buffer.allocUnsafeSlow(Buffer.byteLength(base64, 'base64'));
  pem.write(base64, 'base64');
  try {
    return createPrivateKey(pem);
  } catch (cause) {
    throw unreadable('key of the issuer cannot be read', { name }, cause);
  } finally {
    pem.fill(0);
  }
}

const stateShape = z.object({
  generation: z.optional(z.number()),
  noted: z.string(),
  next: z.optional(z.object({ certificate: z.string(), publishedAt: z.optional(z.string()) })),
  former: z.array(z.object({ certificate: z.string(), until: z.string() })),
  longestLifetimeSeconds: z.number(),
  requested: z.optional(z.boolean()),
  force: z.optional(z.enum(['switch', 'retire'])),
});

/** A Secret that we have not written yet has no state. */
function readState(values: ReadonlyMap<string, string>, issuer: Issuer): Pick<IssuerSecret, 'state' | 'generation'> {
  const text = values.get(stateName);
  if (text === undefined) {
    return { state: { issuer, noted: issuer.roots, former: [], longestLifetimeMs: 0, requested: false }, generation: 0 };
  }
  try {
    const parsed = stateShape.parse(JSON.parse(decode(text)));
    const { generation = 0, noted, next, former, longestLifetimeSeconds, requested = false, force } = parsed;
    if (next !== undefined && !values.has(nextKeyName)) throw new SignetError('invalid', 'the key of the next issuer is missing');
    const state: RotationState = {
      issuer,
      noted: readCertificates(noted, { source: stateName }),
      next: next && {
        certificate: one(next.certificate),
        publishedAt: next.publishedAt === undefined ? undefined : instant(next.publishedAt),
      },
      former: former.map(({ certificate, until }) => ({ certificate: one(certificate), until: instant(until) })),
      longestLifetimeMs: longestLifetimeSeconds * 1_000,
      requested,
      force,
    };
    return { state, generation };
  } catch (cause) {
    throw unreadable('the state of the rotation cannot be read', { name: stateName }, cause);
  }
}

function formatState({ noted, next, former, longestLifetimeMs, requested, force }: RotationState, generation: number): string {
  const pem = (certificate: Certificate): string => formatCertificates([certificate]);
  return JSON.stringify({
    generation,
    noted: formatCertificates(noted),
    next: next && {
      certificate: pem(next.certificate),
      publishedAt: next.publishedAt === undefined ? undefined : formatInstant(next.publishedAt),
    },
    former: former.map(({ certificate, until }) => ({ certificate: pem(certificate), until: formatInstant(until) })),
    longestLifetimeSeconds: longestLifetimeMs / 1_000,
    requested,
    force,
  } satisfies z.input<typeof stateShape>);
}

function one(pem: string): Certificate {
  const [certificate, ...more] = readCertificates(pem, { source: stateName });
  if (certificate === undefined || more.length > 0) throw new SignetError('invalid', 'one certificate was expected');
  return certificate;
}

function instant(text: string): number {
  const at = parseInstant(text);
  if (at === undefined) throw new SignetError('invalid', 'an instant was expected');
  return at;
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64');
}

function decode(base64: string): string {
  return Buffer.from(base64, 'base64').toString();
}

function unreadable(message: string, fields: SignetError['fields'], cause?: unknown): SignetError {
  return new SignetError('invalid', message, { cause, reason: 'issuer-unreadable', fields });
}
