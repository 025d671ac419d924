import t from 'tap';
import { createSpiffeId } from '../../../agent/identity/spiffe-id.js';
import type { Grant } from '../../../agent/sds/grant.js';
import { covers, isDelegate } from '../../../agent/sds/grant.js';

const a = createSpiffeId('example.org', 'demo', 'a');
const b = createSpiffeId('example.org', 'demo', 'b');
const none: Grant = { kind: 'none', reason: { code: 'peer-unknown', detail: '' } };
const patterns = (...list: string[]): Grant => ({ kind: 'patterns', patterns: list });

void t.test('what each grant covers', async (t) => {
  const table: readonly (readonly [string, Grant, boolean, boolean])[] = [
    ['node', { kind: 'node' }, true, true],
    ['own', { kind: 'own', id: a }, true, false],
    ['none', none, false, false],
    ['no pattern', patterns(), false, false],
    ['exact', patterns('x', a.uri), true, false],
    ['accounts of a namespace', patterns('spiffe://example.org/ns/demo/sa/*'), true, true],
    ['prefix', patterns('spiffe://example.org/ns/demo/sa/a*'), true, false],
    ['another namespace', patterns('spiffe://example.org/ns/other/sa/*'), false, false],
    ['another trust domain', patterns('spiffe://example.com/ns/demo/sa/*'), false, false],
    ['a star never spans a slash', patterns('spiffe://example.org/*', '*', 'spiffe://*/sa/a'), false, false],
    ['in the middle', patterns('spiffe://example.org/ns/d*o/sa/b'), false, true],
    ['no regular expression', patterns('spiffe://example.org/ns/demo/sa/.', 'spiffe://example.org/ns/demo/sa/[ab]'), false, false],
  ];
  for (const [name, grant, coversA, coversB] of table) t.same([covers(grant, a), covers(grant, b)], [coversA, coversB], name);
});

void t.test('a hand-out under a grant for others is audited', async (t) => {
  t.ok(isDelegate({ kind: 'node' }));
  t.ok(isDelegate(patterns(a.uri)));
  t.notOk(isDelegate({ kind: 'own', id: a }));
  t.notOk(isDelegate(none));
});
