// Access by a kubeconfig: read by @kubernetes/client-node, which knows every form of it and runs exec plugins.
// Loaded only when one is given, since that library costs 15 MiB. Used by kube/access.ts. Promises: the file and those it names
// are read again after ten seconds and after a refusal, so that the kubelet's rotating certificate is followed; what cannot be
// read for a moment changes nothing.

import type { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { parse } from 'yaml';
import { SignetError } from '../runtime/errors.js';
import type { Logger } from '../runtime/log.js';
import { errorFields } from '../runtime/log.js';
import type { Clock } from '../runtime/time.js';
import type { Access, Credential } from './credentials.js';
import { sameConnection } from './credentials.js';

export interface KubeconfigOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What is in memory is at most this old when it is used. */
const maxAgeMs = 10_000;

export function createKubeconfigCredential({ path, clock, log }: KubeconfigOptions): Credential {
  let parsed: Parsed | undefined;
  let held: { readonly access: Access; readonly readAt: number } | undefined;
  let failing = false;
  let reading: Promise<Access> | undefined;

  const readNow = async (): Promise<Access> => {
    try {
      const text = await readFile(path, 'utf8');
      if (parsed?.text !== text) parsed = { text, config: await parseConfig(path, text) };
      const access = await accessBy(parsed.config);
      held = { access, readAt: clock.monotonic() };
      failing = false;
      return access;
    } catch (error) {
      const fault = new SignetError('invalid', 'use the kubeconfig', { cause: error, reason: 'kube-config-invalid', fields: { path } });
      if (held === undefined) throw fault;
      if (!failing) log.warn('cannot use the kubeconfig, keeping what was read', errorFields(fault));
      failing = true;
      return held.access;
    }
  };
  // One at a time: a plugin may take long, or hang, and every call would start one more.
  const read = (): Promise<Access> => {
    reading ??= readNow().finally(() => {
      reading = undefined;
    });
    return reading;
  };
  return {
    access: async () => (held !== undefined && clock.monotonic() - held.readAt < maxAgeMs ? held.access : await read()),
    async accessAfter(refused) {
      // It keeps what a plugin gave.
      parsed = undefined;
      const access = await read();
      return access.authorization === refused.authorization && sameConnection(access, refused) ? undefined : access;
    },
  };
}

interface Parsed {
  readonly text: string;
  readonly config: KubeConfig;
}

async function parseConfig(path: string, text: string): Promise<KubeConfig> {
  const { KubeConfig: Kubeconfig } = await import('@kubernetes/client-node/dist/config.js');
  const config = new Kubeconfig();
  config.loadFromFile(path);
  refuseUnread(text, config.getCurrentUser()?.name);
  return config;
}

/** Of a user (client-go, clientcmd/api/v1 AuthInfo): what is not read by the library, without which we would be somebody else. */
const unread = ['tokenFile', 'as', 'as-uid', 'as-groups', 'as-user-extra'] as const;

function refuseUnread(text: string, name: string | undefined): void {
  const { users } = parse(text) as { readonly users?: readonly { readonly name?: string; readonly user?: object | null }[] };
  const user = users?.find((each) => each.name === name)?.user ?? {};
  const found = unread.filter((key) => Object.hasOwn(user, key));
  if (found.length > 0) throw new SignetError('invalid', `${found.join(' and ')} of the user: not supported`);
}

async function accessBy(config: KubeConfig): Promise<Access> {
  const cluster = config.getCurrentCluster();
  if (cluster === null || config.getCurrentUser() === null) throw new SignetError('invalid', 'it has no current cluster and user');
  if (cluster.skipTLSVerify) throw new SignetError('invalid', 'insecure-skip-tls-verify is not supported');
  if (cluster.proxyUrl !== undefined) throw new SignetError('invalid', 'proxy-url is not supported');
  const server = new URL(cluster.server);
  if (server.protocol !== 'https:') throw new SignetError('invalid', 'the server is not an https url');
  return toAccess(server, await optionsOf(config));
}

/** Certificates, keys and headers for a request, with files read and plugins run. */
async function optionsOf(config: KubeConfig): Promise<RequestOptions> {
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  return options;
}

function toAccess(server: URL, { ca, cert, key, servername, headers, auth }: RequestOptions): Access {
  const authorization = (headers as Readonly<Record<string, unknown>> | undefined)?.['Authorization'];
  const basic = typeof auth === 'string' ? `Basic ${Buffer.from(auth).toString('base64')}` : undefined;
  const header = typeof authorization === 'string' ? authorization : basic;
  return {
    server,
    tls: {
      ...(isMaterial(ca) ? { ca } : {}),
      ...(isMaterial(cert) ? { cert } : {}),
      ...(isMaterial(key) ? { key } : {}),
      ...(servername === undefined ? {} : { serverName: servername }),
    },
    ...(header === undefined ? {} : { authorization: header }),
  };
}

function isMaterial(value: unknown): value is string | Buffer {
  return typeof value === 'string' || Buffer.isBuffer(value);
}
