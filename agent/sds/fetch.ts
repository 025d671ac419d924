// The unary FetchSecrets: one answer with all names asked for, or one status. Called by service.ts after it admitted the call.
// Denied beats unknown beats waiting; a certificate that is being issued is waited for, within the deadline of the client and ours.

import type { ServerUnaryCall, sendUnaryData } from '@grpc/grpc-js';
import { SignetError, toWireStatus } from '../runtime/errors.js';
import { formatReason } from '../runtime/reasons.js';
import type { Peer } from './grant.js';
import type { Account } from './limits.js';
import type { Target } from './names.js';
import { maxNameLength, resolveName } from './names.js';
import type { Offer } from './offer.js';
import type { EncodedSecret } from './secret.js';
import { encodeResponse } from './secret.js';
import type { StreamContext } from './stream.js';
import { StreamLog } from './stream-log.js';
import type { DiscoveryRequest, Received } from './wire.js';
import { oversized, secretTypeUrl } from './wire.js';

/** A client without a deadline of its own is answered at last after this. */
const patienceMs = 10_000;

export type FetchCall = ServerUnaryCall<Received<DiscoveryRequest>, Buffer>;
export type FetchContext = Omit<StreamContext, 'stalls' | 'onClosed'>;

/** A call that waits. */
export interface Fetching {
  end(error: unknown): void;
}

/** Answers the call, now or when the last certificate is there; until then it is in `waiting`. */
export function fetchSecrets(
  context: FetchContext,
  call: FetchCall,
  peer: Peer,
  account: Account,
  answer: sendUnaryData<Buffer>,
  waiting: Set<Fetching>,
): void {
  const { admission, clock, secrets } = context;
  const stops: (() => void)[] = [];
  const offers = new Map<string, Offer>();
  const granted = peer.grant.value;
  let counted = 0;
  let closed = false;
  const close = (): void => {
    if (closed) return;
    closed = true;
    for (const stop of stops) stop();
    admission.removeNames(account, counted);
    admission.close(account);
    waiting.delete(self);
  };
  const end = (error: unknown): void => {
    if (closed) return;
    close();
    answer(toWireStatus(error));
  };
  const self: Fetching = { end };
  waiting.add(self);
  stops.push(clock.alarm(patienceMs, () => end(new SignetError('deadline', 'not every secret was ready in time'))).cancel);
  call.once('cancelled', close);

  const log = new StreamLog(context, peer, account);
  const look = (names: readonly string[]): void => {
    if (closed || offers.size < names.length) return;
    // What came late is for a peer that may no longer have it.
    if (peer.grant.value !== granted) throw new SignetError('unavailable', 'what this peer may ask for has changed');
    const found = judge(offers);
    if (found === undefined) return;
    for (const secret of found) if (secret.certificate !== undefined) log.handedOut(secret.name, secret.certificate, true);
    const bytes = encodeResponse('sotw', '', found, []);
    close();
    answer(null, bytes);
  };
  try {
    const names = readNames(context, call.request);
    admission.addNames(account, names.length);
    counted = names.length;
    const targets = names.map((name): readonly [string, Target] => [name, resolveName(name, peer.grant.value, secrets)]);
    log.resolved(targets);
    for (const [name, target] of targets) {
      stops.push(
        context.index.watch(target, name, (offer) => {
          offers.set(name, offer);
          if (offer.status === 'waiting' && target.kind === 'identity') secrets.urgent(target.uri);
          try {
            look(names);
          } catch (error) {
            end(error);
          }
        }),
      );
    }
    if (closed) for (const stop of stops) stop();
  } catch (error) {
    log.ended(error);
    end(error);
  }
}

function readNames({ admission, limits }: FetchContext, request: Received<DiscoveryRequest>): readonly string[] {
  if (request === oversized) throw admission.refuse('message');
  if (request.typeUrl !== '' && request.typeUrl !== secretTypeUrl) throw new SignetError('invalid', `type url is not ${secretTypeUrl}`);
  const names = [...new Set(request.resourceNames)];
  if (names.length === 0) throw new SignetError('invalid', 'no names: there is no wildcard');
  if (names.length > limits.namesPerStream) throw admission.refuse('names-per-stream');
  if (names.some((name) => name.length > maxNameLength)) throw new SignetError('invalid', 'a name is too long');
  return names;
}

// All secrets, or undefined while one is still to come; throws when there is no point in waiting.
function judge(offers: ReadonlyMap<string, Offer>): readonly EncodedSecret[] | undefined {
  const all = [...offers.values()];
  const denied = all.find((offer) => offer.status === 'denied');
  if (denied !== undefined) throw new SignetError('denied', formatReason(denied.reason), { reason: denied.reason.code });
  const missing = all.find((offer) => offer.status === 'unknown' || offer.status === 'absent');
  if (missing !== undefined) throw new SignetError('notFound', formatReason(missing.reason), { reason: missing.reason.code });
  const ready: EncodedSecret[] = [];
  for (const offer of all) if (offer.status === 'ready' && !offer.secret.retired) ready.push(offer.secret);
  return ready.length === all.length ? ready : undefined;
}
