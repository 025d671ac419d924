// A CA that answers a renewal with something that must not be served: whatever is wrong with it, the certificate that is there
// stays in use with its key, the refusal is counted by its check and told once, and a sound answer later heals it.

import t from 'tap';
import type { CaRequest } from '../../../agent/ca/ca-client.js';
import type { ReasonCode } from '../../../agent/runtime/reasons.js';
import { parseCsr } from '../../../agent/x509/csr.js';
import type { CertificateSpec } from '../../fixtures/pki.js';
import { createIntermediate, createLeaf, createRoot, createTestKey, hourMs } from '../../fixtures/pki.js';
import { createCacheScene } from '../../fixtures/svid-cache.js';

type BadAnswer = (request: CaRequest, now: number) => readonly Buffer[];

// One CA for all: its key is never the fault.
const root = createRoot({ notAfter: Date.UTC(2036, 0, 1) });
const stranger = createRoot({ notAfter: Date.UTC(2036, 0, 1) });

/** A sound leaf for the request but for what is said. */
function leafFor({ id, csr }: CaRequest, now: number, spec: CertificateSpec = {}): Buffer {
  const key = { publicKeySpki: parseCsr(csr).publicKeySpki };
  return createLeaf(root, id.uri, { key, notBefore: now, notAfter: now + 24 * hourMs, ...spec }).pem;
}

const answers: Readonly<Record<string, readonly [ReasonCode, BadAnswer]>> = {
  'no certificate': ['answer-empty', () => []],
  'a broken second block': [
    'pem-invalid',
    (request, now) => [leafFor(request, now), Buffer.from('-----BEGIN CERTIFICATE-----\n?\n-----END CERTIFICATE-----\n')],
  ],
  'the identity of the agent': [
    'san-mismatch',
    (request, now) => [leafFor(request, now, { uris: ['spiffe://example.org/ns/signet/sa/agent'] })],
  ],
  'another identity beside ours': [
    'san-mismatch',
    (request, now) => [leafFor(request, now, { uris: [request.id.uri, 'spiffe://example.org/ns/test/sa/b'] })],
  ],
  'the key of somebody else': ['key-mismatch', (request, now) => [leafFor(request, now, { key: createTestKey() })]],
  'an expired leaf': ['certificate-expired', (request, now) => [leafFor(request, now, { notBefore: now - 2 * hourMs, notAfter: now - 1 })]],
  'a leaf of four hours from now': [
    'certificate-not-yet-valid',
    (request, now) => [leafFor(request, now, { notBefore: now + 4 * hourMs })],
  ],
  'another root': ['trust-anchor-unknown', ({ id, csr }) => [createLeaf(stranger, id.uri, { key: parseCsr(csr) }).pem, stranger.pem]],
  'a root of the same name with another key': [
    'signature-invalid',
    ({ id, csr }, now) => {
      const subject = 'same name';
      const twin = createIntermediate(root, { subject });
      const other = createIntermediate(root, { subject });
      return [createLeaf(twin, id.uri, { key: parseCsr(csr), notBefore: now }).pem, other.pem];
    },
  ],
  'five megabytes': ['answer-too-large', (request, now) => [leafFor(request, now), Buffer.alloc(5 * 1024 * 1024, 0x20)]],
};

for (const [name, [reason, bad]] of Object.entries(answers)) {
  t.test(`C02: a renewal answered with ${name} keeps the old pair, counts and tells the check, and heals`, async (t) => {
    const { ca, cache, clock, log, metrics, svid, want, state, settled } = createCacheScene(t);
    ca.roots.set([root.certificate]);
    let isBad = false;
    ca.request = async (request, accept) => {
      const elements = isBad ? bad(request, clock.now()) : [leafFor(request, clock.now())];
      return accept({ elements, roots: ca.roots.value, upstream: 'fake' });
    };
    await want('a');
    const old = svid('a');
    const seen: string[] = [];
    cache.watch(old.id.uri).subscribe((now) => seen.push(now?.status ?? 'gone'));

    isBad = true;
    cache.renew(old.id.uri);
    await settled();
    t.match(state('a'), { status: 'retained', reason: { code: reason } });
    t.equal(svid('a'), old);
    t.match(old.privateKeyPem().toString(), /BEGIN PRIVATE KEY/, 'its key is still there');
    t.equal(await metrics.read('signet_ca_answers_refused_total', { upstream: 'fake', reason }), 1);
    t.match(log.lines.at(-1), { level: 'warn', message: 'renewal failed, certificate retained', fields: { reason } });
    const lines = log.lines.length;
    await clock.advance(10 * 60_000);
    t.ok(((await metrics.read('signet_ca_answers_refused_total', { upstream: 'fake', reason })) ?? 0) > 1, 'it is tried again');
    t.equal(log.lines.length, lines, 'and told once');
    t.equal(svid('a'), old);

    isBad = false;
    cache.renew(old.id.uri);
    await settled();
    t.not(svid('a'), old);
    t.same(seen, ['issued', 'retained', 'issued']);
  });
}
