// The name of a node from the client certificate in its kubelet's kubeconfig, for a node without `node` and $NODE_NAME.
// Used by config.ts. Promise: whatever cannot be read gives no name, and the setting is then asked for.

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';

/** Of https://kubernetes.io/docs/reference/access-authn-authz/node/: the user of a node, as CN. */
const nodeUser = /^CN=system:node:(\S+)$/m;

export function nodeOfKubeconfig(path: string): string | undefined {
  try {
    const config = parse(readFileSync(path, 'utf8')) as Kubeconfig;
    const context = config.contexts?.find(({ name }) => name === config['current-context'])?.context;
    const user = config.users?.find(({ name }) => name === context?.user)?.user ?? {};
    const { 'client-certificate-data': data, 'client-certificate': file = '' } = user;
    const pem = data === undefined ? readFileSync(resolve(dirname(path), file)) : Buffer.from(data, 'base64');
    return nodeUser.exec(new X509Certificate(pem).subject)?.[1];
  } catch {
    // Whoever uses the kubeconfig says what is wrong with it.
    return undefined;
  }
}

interface Kubeconfig {
  readonly 'current-context'?: string;
  readonly 'contexts'?: readonly { readonly name: string; readonly context?: { readonly user?: string } }[];
  readonly 'users'?: readonly {
    readonly name: string;
    readonly user?: { readonly 'client-certificate'?: string; readonly 'client-certificate-data'?: string };
  }[];
}
