// The setting `upstreams`: the shapes of its entries, and the zod schemas that read them. Used by the table of settings.

import * as z from 'zod/mini';
import { isServiceAccount } from '../identity/spiffe-id.js';
import type { HostPort, Kind, Schema } from './kinds.js';
import { checkedText, expected, hostPortSchema } from './kinds.js';
import { fileOnly, mapping, notEmpty, pathSchema } from './lists.js';
import type { OutsideRoots } from './sources.js';
import { isSignerName, outsideRootsSchema, signerText } from './sources.js';

/** The files of an issuer, all PEM. */
export interface IssuerFiles {
  readonly certificate: string;
  readonly privateKey: string;
  /** Certificates between the issuer and its root. */
  readonly chain?: string;
  /** Roots that the chain may end in. Default: the last self-signed certificate of the other files. */
  readonly roots?: string;
}

export interface BuiltInUpstream {
  readonly kind: 'built-in';
  /** Default: an issuer made on the first start and kept in the state directory. */
  readonly issuer?: IssuerFiles;
}

/** A CA that speaks Istio's certificate service: istiod, istio-csr, `signet ca`. */
export interface IstioUpstream {
  readonly kind: 'istio';
  /** In order of preference. */
  readonly endpoints: readonly HostPort[];
  readonly tls: {
    /** What the certificate of the CA must chain to. */
    readonly roots: OutsideRoots;
    /** What it must name. Default: the host of the endpoint. */
    readonly serverName?: string;
  };
  /** As whom to ask: this agent for the identities of its node, or each workload for its own. */
  readonly auth: 'node' | 'workload';
  /** Whom tokens must be for. */
  readonly audience: string;
  /** The agent's own token, with auth `node`. */
  readonly tokenFile?: string;
  /** What the CA calls this cluster. */
  readonly clusterId?: string;
  /** Sent with each request; not for secrets. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Which roots of the trust bundle the CA may chain to. Default: all of them. */
  readonly roots?: OutsideRoots;
}

/** What upstreams that are objects of the API server have in common. */
interface ObjectUpstream {
  /** Which roots of the trust bundle answers may chain to. Default: all of them. */
  readonly roots?: OutsideRoots;
}

/** CertificateSigningRequests, made as the agent's own account. */
export interface KubernetesCsrUpstream extends ObjectUpstream {
  readonly kind: 'kubernetes-csr';
  readonly signerName: string;
}

/** PodCertificateRequests, made as the node. */
export interface PodCertificateUpstream extends ObjectUpstream {
  readonly kind: 'pod-certificate';
  readonly signerName: string;
}

/** CertificateRequests of cert-manager, made as the workload. */
export interface CertManagerUpstream extends ObjectUpstream {
  readonly kind: 'cert-manager';
  readonly issuerRef: { readonly name: string; readonly kind: string; readonly group: string };
}

export type Upstream = BuiltInUpstream | IstioUpstream | KubernetesCsrUpstream | PodCertificateUpstream | CertManagerUpstream;

export const issuerFilesText = 'a mapping of files: certificate, privateKey, chain, roots';

export function issuerFilesSchema(): Schema<IssuerFiles> {
  return mapping(
    {
      certificate: pathSchema(),
      privateKey: pathSchema(),
      chain: z.exactOptional(pathSchema()),
      roots: z.exactOptional(pathSchema()),
    },
    issuerFilesText,
  );
}

function builtInSchema() {
  return mapping({ kind: z.literal('built-in'), issuer: z.exactOptional(issuerFilesSchema()) }, 'an upstream');
}

const isDnsName = (text: string): boolean => /^(?=.{1,253}$)[A-Za-z0-9_-]{1,63}(?:\.[A-Za-z0-9_-]{1,63})*$/.test(text);

/** Of what is written into a header: printable ASCII, as gRPC wants it. */
const isHeaderValue = (text: string): boolean => /^[\x21-\x7e](?:[\x20-\x7e]{0,1022}[\x21-\x7e])?$/.test(text);

/** Not those that are ours or gRPC's. */
const isHeaderName = (name: string): boolean =>
  /^[a-z0-9_-]{1,128}$/.test(name) && !/^(?:authorization|clusterid|content-type|te|host|user-agent)$|^grpc-|-bin$/.test(name);

function headersSchema(): Schema<Record<string, string>> {
  const value = checkedText('printable ASCII', isHeaderValue);
  const allowed = 'a mapping of header names in lower case to values';
  return z.record(z.string(), value, expected(allowed)).check(
    z.refine((headers) => Object.keys(headers).every(isHeaderName), {
      error: 'must have names in lower case that are neither authorization, clusterid nor of HTTP and gRPC',
    }),
  );
}

/** The same endpoint twice is no second one to go to when it fails. */
function areDistinct(endpoints: readonly HostPort[]): boolean {
  return new Set(endpoints.map(({ host, port }) => `${host.toLowerCase()}:${port}`)).size === endpoints.length;
}

function istioSchema() {
  const endpoint = hostPortSchema('an address and port, such as istiod.istio-system.svc:15012', ({ port }) => port > 0);
  const tls = mapping(
    {
      roots: outsideRootsSchema(),
      serverName: z.exactOptional(checkedText('a DNS name', isDnsName)),
    },
    'a mapping of roots and serverName',
  );
  return mapping(
    {
      kind: z.literal('istio'),
      endpoints: z.array(endpoint, expected('a list of endpoints')).check(
        notEmpty('host:port'),
        z.maxLength(16),
        // Of endpoints that could be read.
        z.refine(areDistinct, { error: 'must name each endpoint once', when: ({ issues }) => issues.length === 0 }),
      ),
      tls,
      auth: z._default(z.enum(['node', 'workload'], expected('node or workload')), 'node'),
      audience: z._default(checkedText('the audience that the CA expects', isHeaderValue), 'istio-ca'),
      tokenFile: z.exactOptional(pathSchema()),
      clusterId: z.exactOptional(checkedText('what the CA calls this cluster', isHeaderValue)),
      headers: z.exactOptional(headersSchema()),
      roots: z.exactOptional(outsideRootsSchema()),
    },
    'an upstream',
  ).check(
    z.refine(({ auth, tokenFile }) => auth !== 'node' || tokenFile !== undefined, {
      error: 'is required with auth node: the projected token of this agent for the CA',
      path: ['tokenFile'],
    }),
    z.refine(({ auth, tokenFile }) => auth !== 'workload' || tokenFile === undefined, {
      error: 'has no effect with auth workload, which asks with a token of each workload',
      path: ['tokenFile'],
    }),
  );
}

function signedBySchema<K extends string>(kind: K) {
  return mapping(
    { kind: z.literal(kind), signerName: checkedText(signerText, isSignerName), roots: z.exactOptional(outsideRootsSchema()) },
    'an upstream',
  );
}

function certManagerSchema() {
  const issuerRef = mapping(
    {
      name: checkedText('the name of an issuer', isServiceAccount),
      kind: z._default(
        checkedText('the kind of an issuer', (text) => /^[A-Za-z][A-Za-z0-9]{0,62}$/.test(text)),
        'ClusterIssuer',
      ),
      group: z._default(checkedText('the API group of an issuer', isDnsName), 'cert-manager.io'),
    },
    'a mapping of name, kind and group',
  );
  return mapping({ kind: z.literal('cert-manager'), issuerRef, roots: z.exactOptional(outsideRootsSchema()) }, 'an upstream');
}

export function upstreams(): Kind<Upstream[]> {
  const allowed =
    'a list of upstreams: {kind: istio, endpoints, tls: {roots, serverName}, auth, audience, tokenFile, clusterId, headers, roots}, {kind: kubernetes-csr or pod-certificate, signerName, roots}, {kind: cert-manager, issuerRef: {name, kind, group}, roots} or {kind: built-in, issuer: {certificate, privateKey, chain, roots}}';
  const isOneBuiltIn = (list: readonly { readonly kind: string }[]): boolean => list.filter(({ kind }) => kind === 'built-in').length <= 1;
  return fileOnly(
    () =>
      z
        .array(
          z.discriminatedUnion(
            'kind',
            [builtInSchema(), istioSchema(), signedBySchema('kubernetes-csr'), signedBySchema('pod-certificate'), certManagerSchema()],
            expected('istio, kubernetes-csr, pod-certificate, cert-manager or built-in'),
          ),
          expected(allowed),
        )
        .check(notEmpty(allowed), z.maxLength(8), z.refine(isOneBuiltIn, { error: 'must have one built-in upstream at most' })),
    allowed,
  );
}
