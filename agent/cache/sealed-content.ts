// What is sealed, as bytes and back: pods, ambient namespaces, the roots by source, and each certificate with its key. Pure; used by the sealed state.
// A head in JSON says what is there; the certificates, each once, and the keys follow it as they are. Keys never become a string.

import type { KnownPod } from '../pods/pod.js';
import { Certificate } from '../x509/certificate.js';
import type { Svid } from '../x509/svid.js';

export interface SealedContent {
  readonly pods: readonly KnownPod[];
  /** Those that are in the ambient mesh by their label; undefined where that is not known. */
  readonly namespaces?: readonly string[] | undefined;
  /** By the name of their source. */
  readonly roots: ReadonlyMap<string, readonly Certificate[]>;
  readonly svids: readonly Svid[];
}

/** An SVID as it was sealed; not yet checked. */
export interface SealedSvid {
  /** The SPIFFE ID. */
  readonly uri: string;
  /** ms since the epoch. */
  readonly receivedAt: number;
  /** ms since the epoch. */
  readonly refreshAt?: number | undefined;
  readonly chain: readonly Certificate[];
  /** PKCS#8; belongs to the receiver, who wipes it. */
  readonly privateKeyPem: Buffer;
}

export interface Restored extends Omit<SealedContent, 'svids'> {
  readonly svids: readonly SealedSvid[];
}

interface Head extends Pick<SealedContent, 'pods' | 'namespaces'> {
  /** Certificates are named by their place in the list. */
  readonly roots: readonly (readonly [source: string, roots: readonly number[]])[];
  readonly svids: readonly (Pick<SealedSvid, 'uri' | 'receivedAt' | 'refreshAt'> & {
    readonly chain: readonly number[];
    readonly keyBytes: number;
  })[];
  /** Bytes of each. */
  readonly certificates: readonly number[];
}

const lengthBytes = 4;

/** The content in memory of its own, which the caller wipes. */
export function encodeContent({ pods, namespaces, roots, svids }: SealedContent): Buffer {
  const places = new Map<string, number>();
  const certificates: Buffer[] = [];
  const placesOf = (list: readonly Certificate[]): number[] =>
    list.map(({ fingerprint, der }) => {
      const place = places.get(fingerprint) ?? certificates.push(der) - 1;
      places.set(fingerprint, place);
      return place;
    });
  const keys = svids.map((svid) => svid.privateKeyPem());
  const head: Head = {
    pods,
    namespaces,
    roots: [...roots].map(([source, list]) => [source, placesOf(list)]),
    svids: svids.map(({ id: { uri }, receivedAt, refreshAt, chain }, index) => ({
      uri,
      receivedAt,
      refreshAt,
      chain: placesOf(chain),
      keyBytes: keys[index]?.length ?? 0,
    })),
    certificates: certificates.map(({ length }) => length),
  };
  const text = Buffer.from(JSON.stringify(head));
  const parts = [text, ...certificates, ...keys];
  const content = Buffer.allocUnsafeSlow(parts.reduce((sum, { length }) => sum + length, lengthBytes));
  let end = content.writeUInt32BE(text.length);
  for (const part of parts) end += part.copy(content, end);
  for (const key of keys) key.fill(0);
  return content;
}

/** The way back, for bytes that `encodeContent` made; they may be wiped afterwards. */
export function decodeContent(content: Buffer): Restored {
  let end = lengthBytes;
  const take = (length: number): Buffer => content.subarray(end, (end += length));
  const head = JSON.parse(take(content.readUInt32BE()).toString('utf8')) as Head;
  const certificates = head.certificates.map((length) => Certificate.fromDer(take(length)));
  const at = (places: readonly number[]): Certificate[] => places.flatMap((place) => certificates[place] ?? []);
  return {
    pods: head.pods,
    namespaces: head.namespaces,
    roots: new Map(head.roots.map(([source, places]) => [source, at(places)])),
    svids: head.svids.map(({ uri, receivedAt, refreshAt, chain, keyBytes }) => {
      const privateKeyPem = Buffer.allocUnsafeSlow(keyBytes);
      take(keyBytes).copy(privateKeyPem);
      return { uri, receivedAt, refreshAt, chain: at(chain), privateKeyPem };
    }),
  };
}
