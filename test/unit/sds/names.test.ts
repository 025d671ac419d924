import fc from 'fast-check';
import t from 'tap';
import { parseSpiffeId } from '../../../agent/identity/spiffe-id.js';
import { WatchedValue } from '../../../agent/runtime/watched.js';
import type { Grant } from '../../../agent/sds/grant.js';
import { resolveName } from '../../../agent/sds/names.js';
import { trustDomain, uri } from '../../fixtures/secrets.js';

const a = uri('a');
const own: Grant = { kind: 'own', id: parseSpiffeId(a) };
const node: Grant = { kind: 'node' };
const some: Grant = { kind: 'patterns', patterns: ['spiffe://example.org/ns/demo/sa/a*'] };
const none: Grant = { kind: 'none', reason: { code: 'peer-unknown', detail: 'x' } };
const view = (...accounts: string[]) => ({ trustDomain, identities: new WatchedValue<ReadonlySet<string>>(new Set(accounts.map(uri))) });

void t.test('what a name means', async (t) => {
  const table: readonly (readonly [string, Grant, object])[] = [
    [a, own, { kind: 'identity', uri: a }],
    [a, node, { kind: 'identity', uri: a }],
    [uri('not-here'), node, { kind: 'identity', uri: uri('not-here') }],
    [a, some, { kind: 'identity', uri: a }],
    [uri('b'), some, { kind: 'denied', reason: { code: 'peer-denied', detail: 'may ask for spiffe://example.org/ns/demo/sa/a*' } }],
    [uri('b'), own, { kind: 'denied', reason: { code: 'peer-denied', detail: `may ask for ${a}` } }],
    [a, none, { kind: 'denied', reason: { code: 'peer-unknown', detail: 'x' } }],
    ['ROOTCA', none, { kind: 'denied' }],
    ['ROOTCA', own, { kind: 'roots' }],
    ['spiffe://example.org', own, { kind: 'roots' }],
    ['ALL', some, { kind: 'spiffe-roots' }],
    ['default', own, { kind: 'identity', uri: a }],
    ['default', some, { kind: 'denied', reason: { code: 'peer-no-identity' } }],
    ['spiffe://example.com', node, { kind: 'unknown', reason: { code: 'name-invalid' } }],
    ['spiffe://example.com/ns/demo/sa/a', node, { kind: 'unknown', reason: { code: 'trust-domain-foreign' } }],
    ['spiffe://example.com/ns/demo/sa/a', own, { kind: 'unknown', reason: { code: 'trust-domain-foreign' } }],
    ['rootca', node, { kind: 'unknown' }],
    ['', node, { kind: 'unknown' }],
    ['*', own, { kind: 'unknown' }],
    ['__proto__', node, { kind: 'unknown' }],
  ];
  for (const [name, grant, expected] of table) t.match(resolveName(name, grant, view('a', 'b')), expected, `${name} for ${grant.kind}`);
});

void t.test('default of a delegate is the only identity of the node', async (t) => {
  t.match(resolveName('default', node, view()), { kind: 'undecided', reason: { detail: 'may ask for roots only' } });
  t.match(resolveName('default', node, view('a')), { kind: 'identity', uri: a });
  t.match(resolveName('default', node, view('b', 'a')), { kind: 'denied', reason: { detail: `may ask for ${a}, ${uri('b')}` } });
  const many = resolveName('default', node, view(...Array.from({ length: 100 }, (_, index) => `n${index}`)));
  t.match(many, { reason: { detail: /and 92 more$/ } }, 'the list is bounded');
});

void t.test('no text makes a name of an identity but its own URI', async () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.mixedCase(fc.constant(a)),
        fc.string().map((tail) => a + tail),
      ),
      (name) => {
        const target = resolveName(name, node, view('a'));
        return target.kind !== 'identity' || name === target.uri || name === 'default';
      },
    ),
    { numRuns: 500 },
  );
});
