// Svid or roots -> the Secret that Envoy expects, under the requested name, and the responses around it (SDS, xDS). Pure but
// for the bytes it owns: each secret is encoded once, and a response that carries it alone is one buffer for all streams.
// The private key is in #private buffers of their own memory (never the shared pool) and is wiped when the secret retires.

import { createHash } from 'node:crypto';
import { formatInstant } from '../runtime/time.js';
import type { TrustBundle } from '../trust-bundle.js';
import type { Certificate } from '../x509/certificate.js';
import { formatCertificates } from '../x509/pem.js';
import type { Svid } from '../x509/svid.js';
import { DeltaDiscoveryResponse, DiscoveryResponse, SPIFFECertValidatorConfig, Secret, secretTypeUrl } from './wire.js';

/** secp384r1 in DER (RFC 5480 §2.1.1.1). */
const p384Oid = Buffer.from('06052b81040022', 'hex');

export type Protocol = 'sotw' | 'delta';

/** The public part of a certificate, for audit lines. */
export interface CertificateFields {
  readonly id: string;
  readonly serial: string;
  /** ISO 8601. */
  readonly notAfter: string;
  /** Its key is on curve P-384, which old clients refuse. */
  readonly p384: boolean;
}

export class EncodedSecret {
  readonly name: string;
  /** Hash of the public content: equal after a restart, on every stream and in both protocols. */
  readonly version: string;
  /** Larger than that of every secret encoded before; the nonce of the shared responses. */
  readonly edition: number;
  /** Undefined for roots. */
  readonly certificate: CertificateFields | undefined;
  readonly #secret: Buffer;
  readonly #responses = new Map<Protocol, Buffer>();
  #uses = 0;
  #retired = false;

  constructor(name: string, edition: number, content: SecretContent) {
    this.name = name;
    this.version = content.version;
    this.edition = edition;
    this.certificate = content.certificate;
    this.#secret = ownBytes(Secret.encode({ name, ...content.message }).finish());
    content.privateKey?.fill(0);
  }

  /** Replaced or gone; must not be sent any more. */
  get retired(): boolean {
    return this.#retired;
  }

  /** No less than what it adds to a response, in bytes. */
  get size(): number {
    return this.#secret.length + this.name.length + secretTypeUrl.length + 64;
  }

  /** The resource of a response; its bytes are shared and must not be kept. */
  resource(): { readonly type_url: string; readonly value: Buffer } {
    return { type_url: secretTypeUrl, value: this.#secret };
  }

  /** The response that carries this secret alone, nonce = edition; the same buffer at each call. */
  response(protocol: Protocol): Buffer {
    let bytes = this.#responses.get(protocol);
    if (bytes === undefined) {
      bytes = encodeResponse(protocol, String(this.edition), [this], []);
      this.#responses.set(protocol, bytes);
    }
    return bytes;
  }

  /** Keeps the bytes until `release`: a write is under way. */
  use(): void {
    this.#uses += 1;
  }

  release(): void {
    this.#uses -= 1;
    this.#wipeWhenUnused();
  }

  /** No new use; the bytes are wiped as soon as no write needs them. */
  retire(): void {
    this.#retired = true;
    this.#wipeWhenUnused();
  }

  #wipeWhenUnused(): void {
    if (!this.#retired || this.#uses > 0) return;
    this.#secret.fill(0);
    for (const bytes of this.#responses.values()) bytes.fill(0);
    this.#responses.clear();
  }
}

interface SecretContent {
  readonly version: string;
  readonly message: Omit<Parameters<typeof Secret.encode>[0], 'name'>;
  readonly certificate?: CertificateFields;
  /** Wiped once it is encoded. */
  readonly privateKey?: Buffer;
}

/** Certificate and key in one secret, so that no client ever has one without the other. */
export function svidContent(svid: Svid): SecretContent {
  const chain = svid.chainPem();
  const privateKey = svid.privateKeyPem();
  return {
    // The certificate commits to its key: the key itself need not go into the hash.
    version: versionOf('certificate', chain),
    message: { type: 'tlsCertificate', tlsCertificate: { certificateChain: inline(chain), privateKey: inline(privateKey) } },
    certificate: {
      id: svid.id.uri,
      serial: svid.serial,
      notAfter: formatInstant(svid.notAfter),
      p384: svid.chain[0]?.publicKeySpki.includes(p384Oid) ?? false,
    },
    privateKey,
  };
}

/** All roots in `trusted_ca`; undefined when there is none (an empty context would make Envoy trust anybody). */
export function rootsContent(bundle: TrustBundle): SecretContent | undefined {
  if (bundle.roots.length === 0) return undefined;
  return {
    version: versionOf('roots', bundle.pem),
    message: { type: 'validationContext', validationContext: { trustedCa: inline(bundle.pem) } },
  };
}

/** Roots by trust domain for envoy.tls.cert_validator.spiffe, which takes self-signed anchors only; undefined without one. */
export function spiffeRootsContent(bundle: TrustBundle, trustDomain: string): SecretContent | undefined {
  const roots = bundle.roots.filter((root: Certificate) => root.selfSigned);
  if (roots.length === 0) return undefined;
  const pem = Buffer.from(formatCertificates(roots));
  const config = SPIFFECertValidatorConfig.encode({ trustDomains: [{ name: trustDomain, trustBundle: inline(pem) }] }).finish();
  const typedConfig = { type_url: SPIFFECertValidatorConfig.getTypeUrl(), value: config };
  return {
    version: versionOf(`spiffe-roots ${trustDomain}`, pem),
    message: {
      type: 'validationContext',
      validationContext: { customValidatorConfig: { name: 'envoy.tls.cert_validator.spiffe', typedConfig } },
    },
  };
}

/** A whole response in memory of its own. Its version is that of its one secret, or a hash over all it says. */
export function encodeResponse(protocol: Protocol, nonce: string, secrets: readonly EncodedSecret[], removed: readonly string[]): Buffer {
  const version = responseVersion(secrets, removed);
  if (protocol === 'sotw') {
    const resources = secrets.map((secret) => secret.resource());
    return ownBytes(DiscoveryResponse.encode({ versionInfo: version, resources, typeUrl: secretTypeUrl, nonce }).finish());
  }
  const resources = secrets.map((secret) => ({ name: secret.name, version: secret.version, resource: secret.resource() }));
  const message = { systemVersionInfo: version, resources, typeUrl: secretTypeUrl, nonce, removedResources: [...removed] };
  return ownBytes(DeltaDiscoveryResponse.encode(message).finish());
}

function responseVersion(secrets: readonly EncodedSecret[], removed: readonly string[]): string {
  const [only] = secrets;
  if (only !== undefined && secrets.length === 1 && removed.length === 0) return only.version;
  const parts = [...secrets.map((secret) => `${secret.name} ${secret.version}`), ...removed.map((name) => `${name} removed`)];
  return versionOf('response', Buffer.from(parts.sort().join('\n')));
}

function versionOf(kind: string, content: Buffer): string {
  return createHash('sha256').update(`${kind}\n`).update(content).digest('hex').slice(0, 32);
}

function inline(bytes: Buffer): { readonly specifier: 'inlineBytes'; readonly inlineBytes: Buffer } {
  return { specifier: 'inlineBytes', inlineBytes: bytes };
}

// A writer's result is a slice of the shared pool, where a key would stay behind and a small secret would pin 8 KiB.
function ownBytes(pooled: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafeSlow(pooled.length);
  bytes.set(pooled);
  pooled.fill(0);
  return bytes;
}
