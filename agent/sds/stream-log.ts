// What a stream tells people: audit lines, warnings, and the counters that go with them. Lines that a peer causes by what it
// sends are bounded per owner (limits.ts); the audit line of a hand-out never is.

import type { Metrics } from '../metrics.js';
import type { Fields } from '../runtime/errors.js';
import { kindOf } from '../runtime/errors.js';
import type { Logger } from '../runtime/log.js';
import { errorFields } from '../runtime/log.js';
import type { Reason } from '../runtime/reasons.js';
import type { ClientInfo } from './client-info.js';
import { formatUserAgent, refusesP384 } from './client-info.js';
import type { Peer } from './grant.js';
import { isDelegate } from './grant.js';
import type { Account } from './limits.js';
import type { Target } from './names.js';
import type { CertificateFields } from './secret.js';
import type { Refused } from './subscriptions.js';

export interface StreamLogContext {
  readonly log: Logger;
  readonly metrics: Metrics;
}

const namesLogged = 8;
const nameLength = 256;

export class StreamLog {
  /** Set from the first request that has a node. */
  client: ClientInfo | undefined;
  readonly #context: StreamLogContext;
  readonly #peer: Peer;
  readonly #account: Account;
  readonly #warned = new Set<string>();

  constructor(context: StreamLogContext, peer: Peer, account: Account) {
    this.#context = context;
    this.#peer = peer;
    this.#account = account;
  }

  /** A certificate with its key goes out. `first`: for the first time under this name on this stream. */
  handedOut(name: string, certificate: CertificateFields, first: boolean): void {
    if (certificate.p384 && this.client !== undefined && refusesP384(this.client)) {
      this.#warnOnce('a certificate with a p-384 key goes to an envoy that accepts p-256 only', {
        userAgent: formatUserAgent(this.client),
      });
    }
    if (!first) return;
    this.#context.metrics.grants.inc();
    const { id, serial, notAfter } = certificate;
    const fields = { name, identity: id, serial, notAfter, ...this.#peer.fields };
    if (isDelegate(this.#peer.grant.value)) this.#context.log.audit('identity handed out', fields);
    else this.#context.log.debug('identity handed out', { ...fields, audit: true });
  }

  refused({ secrets, message }: Refused): void {
    this.#line('warn', 'client refused a secret', { names: shorten(secrets.map(({ name }) => name)), refusal: message });
  }

  /** What names turned out to mean: those that mean nothing, or are not for this peer, are told. */
  resolved(targets: Iterable<readonly [string, Target]>): void {
    const unknown: Unmet[] = [];
    const denied: Unmet[] = [];
    for (const [name, target] of targets) {
      if (target.kind === 'unknown') unknown.push({ name, reason: target.reason });
      if (target.kind === 'denied') denied.push({ name, reason: target.reason });
    }
    if (unknown.length > 0) {
      this.#context.metrics.sdsNamesUnknown.inc(unknown.length);
      this.#warnOnce('client asked for a name that is none of ours', unmetFields(unknown));
    }
    if (denied.length > 0) this.#line('audit', 'identity refused', { refused: denied.length, ...unmetFields(denied) });
  }

  /** The stream ends by an error. A denial has its audit line already. */
  ended(error: unknown): void {
    const kind = kindOf(error);
    if (kind === 'internal') this.#context.log.error('stream ended by an error of ours', { ...errorFields(error), ...this.#peer.fields });
    else if (kind !== 'denied' && kind !== 'unavailable') this.#line('warn', 'stream ended', errorFields(error));
  }

  #warnOnce(message: string, fields: Fields): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    this.#line('warn', message, fields);
  }

  #line(level: 'audit' | 'warn', message: string, fields: Fields): void {
    const more = this.#account.lines.take();
    if (more === undefined) return;
    this.#context.log[level](message, {
      ...fields,
      nodeId: this.client?.nodeId,
      ...more,
      ...this.#peer.fields,
    });
  }
}

/** A name that gets nothing, and why. */
interface Unmet {
  readonly name: string;
  readonly reason: Reason;
}

function unmetFields(unmet: readonly Unmet[]): Fields {
  return { names: shorten(unmet.map(({ name }) => name)), reasons: [...new Set(unmet.map(({ reason }) => reason.code))] };
}

function shorten(names: readonly string[]): string[] {
  return names.slice(0, namesLogged).map((name) => name.slice(0, nameLength));
}
