// The settings of `signet ca` about its issuer and where its roots go: their shapes, the zod schemas that read them, and what is
// wrong with them together. Used by the table of settings (ca-settings.ts) and by the reading of the configuration.

import * as z from 'zod/mini';
import { isNamespace, isServiceAccount } from '../identity/spiffe-id.js';
import type { Fault } from './file.js';
import type { Kind } from './kinds.js';
import { checkedText, expected } from './kinds.js';
import { fileOnly, isHost, mapping, notEmpty, pathSchema } from './lists.js';
import { isSignerName, signerText } from './sources.js';
import type { IssuerFiles } from './upstreams.js';

/** A Secret that the CA keeps its issuer in. */
export interface IssuerSecretName {
  readonly namespace: string;
  readonly name: string;
}

export type CaIssuer = IssuerFiles | { readonly secret: IssuerSecretName };

/** A Secret with a serving certificate for a server beside the CA. */
export interface ServingSecretSettings {
  readonly namespace: string;
  readonly name: string;
  /** DNS names and addresses of the server. */
  readonly hosts: readonly string[];
}

const objectName = () => ({
  namespace: checkedText('the name of a namespace', isNamespace),
  name: checkedText('the name of an object', isServiceAccount),
});

export function caIssuer(): Kind<CaIssuer> {
  const allowed = '{secret: {namespace, name}} or a mapping of files: certificate, privateKey, chain, roots';
  const shape = () =>
    mapping(
      {
        secret: z.exactOptional(mapping(objectName(), 'a mapping of namespace and name')),
        certificate: z.exactOptional(pathSchema()),
        privateKey: z.exactOptional(pathSchema()),
        chain: z.exactOptional(pathSchema()),
        roots: z.exactOptional(pathSchema()),
      },
      allowed,
    ).check(
      z.refine(({ secret, ...files }) => secret === undefined || Object.keys(files).length === 0, {
        error: 'must have either secret or files',
      }),
      z.refine(({ secret, certificate }) => secret !== undefined || certificate !== undefined, {
        error: 'is required without secret',
        path: ['certificate'],
      }),
      z.refine(({ secret, privateKey }) => secret !== undefined || privateKey !== undefined, {
        error: 'is required without secret',
        path: ['privateKey'],
      }),
    );
  type Written = z.output<ReturnType<typeof shape>>;
  const toIssuer = ({ secret, certificate = '', privateKey = '', ...more }: Written): CaIssuer =>
    secret === undefined ? { certificate, privateKey, ...more } : { secret };
  return fileOnly(() => z.pipe(shape(), z.transform(toIssuer)), allowed);
}

export function servingSecrets(): Kind<ServingSecretSettings[]> {
  const allowed = 'a list of Secrets: {namespace, name, hosts}';
  const hostsText = 'a list of DNS names and addresses';
  const hosts = () =>
    z.array(checkedText('a DNS name or an address', isHost), expected(hostsText)).check(notEmpty(hostsText), z.maxLength(100));
  const secret = () => mapping({ ...objectName(), hosts: hosts() }, '{namespace, name, hosts}');
  return fileOnly(() => z.array(secret(), expected(allowed)).check(z.maxLength(100)), allowed);
}

export function configMapNames(): Kind<string[]> {
  const allowed = 'a list of names of ConfigMaps';
  const name = () => checkedText('the name of a ConfigMap', isServiceAccount);
  return fileOnly(() => z.array(name(), expected(allowed)).check(z.maxLength(10)), allowed);
}

export function clusterTrustBundleName(): Kind<string> {
  const allowed = 'the name of a ClusterTrustBundle';
  const schema = () => checkedText(allowed, (text) => /^[a-z0-9.:-]{1,253}$/.test(text));
  return { schema, allowed, suffix: '', fileOnly: false, isOptional: false };
}

export function signerName(): Kind<string> {
  const schema = () => checkedText(signerText, isSignerName);
  return { schema, allowed: signerText, suffix: '', fileOnly: false, isOptional: false };
}

export function signerNames(): Kind<string[]> {
  const allowed = 'a list of names of signers';
  return fileOnly(() => z.array(checkedText(signerText, isSignerName), expected(allowed)).check(z.maxLength(10)), allowed);
}

/** What the faults are looked for in. */
interface Together {
  readonly issuer?: CaIssuer;
  readonly roots: {
    readonly configMaps: readonly string[];
    readonly namespaces?: readonly string[];
    readonly excludeNamespaces: readonly string[];
    readonly clusterTrustBundle: { readonly name?: string; readonly signerName?: string };
  };
  readonly servingSecrets: readonly ServingSecretSettings[];
}

/** Settings that are sound alone but not together. */
export function issuerFaults({ issuer, roots, servingSecrets: secrets }: Together): Fault[] {
  const { configMaps, namespaces, excludeNamespaces, clusterTrustBundle: bundle } = roots;
  const faults: Fault[] = [];
  const fault = (isOne: boolean, path: string, message: string): void => {
    if (isOne) faults.push({ path, message });
  };
  const isInCluster = issuer !== undefined && 'secret' in issuer;
  const takesSecret = 'needs issuer.secret: an issuer of files, or one of this replica alone, is not rotated in the cluster';
  fault(!isInCluster && configMaps.length > 0, 'roots.configMaps', takesSecret);
  fault(!isInCluster && bundle.name !== undefined, 'roots.clusterTrustBundle.name', takesSecret);
  fault(!isInCluster && secrets.length > 0, 'servingSecrets', takesSecret);
  const noConfigMaps = 'has no effect without roots.configMaps';
  fault(configMaps.length === 0 && namespaces !== undefined, 'roots.namespaces', noConfigMaps);
  fault(configMaps.length === 0 && excludeNamespaces.length > 0, 'roots.excludeNamespaces', noConfigMaps);
  faults.push(...bundleFaults(bundle));
  const names = secrets.map(({ namespace, name }) => `${namespace}/${name}`);
  if (isInCluster) names.push(`${issuer.secret.namespace}/${issuer.secret.name}`);
  fault(new Set(names).size < names.length, 'servingSecrets', 'must not name a Secret twice, nor that of the issuer');
  return faults;
}

/** The API server ties the name of a ClusterTrustBundle to its signer. */
function bundleFaults({ name, signerName: signer }: Together['roots']['clusterTrustBundle']): Fault[] {
  if (name === undefined) {
    return signer === undefined ? [] : [{ path: 'roots.clusterTrustBundle.signerName', message: 'has no effect without a name' }];
  }
  const prefix = signer === undefined ? undefined : `${signer.replaceAll('/', ':')}:`;
  const isRight = prefix === undefined ? !name.includes(':') : name.startsWith(prefix) && name.length > prefix.length;
  const message = prefix === undefined ? 'must have no colon without a signerName' : `must begin with ${prefix} as its signerName says`;
  return isRight ? [] : [{ path: 'roots.clusterTrustBundle.name', message }];
}
