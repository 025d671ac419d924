import t from 'tap';
import type { ErrorKind } from '../../../agent/runtime/errors.js';
import {
  SignetError,
  connectionFault,
  describeError,
  explainError,
  fieldsOf,
  fromGrpcCode,
  isRetryable,
  kindOf,
  reasonOf,
  toWireStatus,
} from '../../../agent/runtime/errors.js';

// google.rpc.Code, written out again so that a slip in the table shows.
const kinds: readonly (readonly [ErrorKind, number, boolean])[] = [
  ['cancelled', 1, false],
  ['invalid', 3, false],
  ['deadline', 4, true],
  ['notFound', 5, false],
  ['conflict', 6, false],
  ['denied', 7, false],
  ['exhausted', 8, true],
  ['internal', 13, true],
  ['unavailable', 14, true],
  ['unauthenticated', 16, false],
];

t.test('each kind has its wire code, there and back, and is retryable or not', async (t) => {
  for (const [kind, code, retryable] of kinds) {
    const error = new SignetError(kind, 'did not work');
    t.equal(toWireStatus(error).code, code, kind);
    t.equal(fromGrpcCode(code), kind, kind);
    t.equal(isRetryable(error), retryable, kind);
  }
});

t.test('wire codes without a kind of their own', async (t) => {
  t.equal(fromGrpcCode(9), 'invalid', 'FAILED_PRECONDITION');
  t.equal(fromGrpcCode(11), 'invalid', 'OUT_OF_RANGE');
  t.equal(fromGrpcCode(12), 'notFound', 'UNIMPLEMENTED');
  for (const code of [0, 2, 10, 15, 99, -1]) t.equal(fromGrpcCode(code), 'internal', String(code));
});

t.test('a peer learns nothing from an internal error', async (t) => {
  const secret = new SignetError('internal', 'bug: table of widgets is empty', { cause: new Error('path of a file') });
  t.same(toWireStatus(secret), { code: 13, details: 'internal error' });
  t.same(toWireStatus(new TypeError('x is not a function')), { code: 13, details: 'internal error' });
  t.same(toWireStatus('thrown text'), { code: 13, details: 'internal error' });
  t.same(toWireStatus(new SignetError('denied', 'not yours', { fields: { id: 'spiffe://a' } })), { code: 7, details: 'not yours' });
});

t.test('the kind of foreign errors', async (t) => {
  t.equal(kindOf(AbortSignal.abort().reason instanceof Error ? AbortSignal.abort().reason : undefined), 'cancelled');
  t.equal(kindOf(new Error('x')), 'internal');
  t.equal(kindOf(undefined), 'internal');
});

t.test('the reason is the nearest one of the chain', async (t) => {
  const inner = new SignetError('unavailable', 'connect', { reason: 'ca-unavailable' });
  t.equal(reasonOf(new SignetError('internal', 'outer', { cause: inner })), 'ca-unavailable');
  t.equal(reasonOf(new SignetError('denied', 'outer', { reason: 'ca-denied', cause: inner })), 'ca-denied');
  t.equal(reasonOf(new Error('foreign', { cause: inner })), 'ca-unavailable');
  t.equal(reasonOf(new Error('foreign')), undefined);
  t.equal(reasonOf(null), undefined);
});

t.test('describeError shows the chain in one line', async (t) => {
  const chain = new SignetError('unavailable', 'renew certificate', {
    cause: new Error('call ca', { cause: new Error('connect ECONNREFUSED') }),
  });
  t.equal(describeError(chain), 'renew certificate: call ca: connect ECONNREFUSED');
  t.equal(describeError('plain'), 'plain');
  t.equal(describeError(undefined), '');
});

t.test('describeError finds words for errors without a message and for things that are no errors', async (t) => {
  const refused = new AggregateError([new Error('connect ECONNREFUSED ::1:443'), new Error('connect ECONNREFUSED 127.0.0.1:443')]);
  t.equal(
    describeError(new Error('call ca', { cause: refused })),
    'call ca: connect ECONNREFUSED ::1:443, connect ECONNREFUSED 127.0.0.1:443',
  );
  t.equal(describeError(new TypeError()), 'TypeError');
  t.equal(describeError(Object.create(null)), 'a thrown object');
  t.equal(describeError({ privateKey: 'x' }), 'a thrown object', 'the content of a foreign object is not shown');
});

t.test('fieldsOf gathers the fields of the chain', async (t) => {
  const inner = new SignetError('invalid', 'inner', { fields: { name: 'inner', line: 7 } });
  const outer = new SignetError('invalid', 'outer', { cause: new Error('foreign', { cause: inner }), fields: { name: 'outer' } });
  t.same(fieldsOf(outer), { name: 'outer', line: 7 });
  t.same(fieldsOf(new Error('foreign')), {});
  t.same(fieldsOf(undefined), {});
});

t.test('explainError adds what was compared, as far as there is anything', async (t) => {
  const error = new SignetError('denied', 'ask', { fields: { account: 'shop/cart', clusterId: '', node: undefined, status: 0 } });
  t.equal(explainError(error), 'ask, account shop/cart, status 0');
});

t.test('what gRPC says of a connection, without its frame', async (t) => {
  const framed = (error: string, note = ''): string => `No connection established. Last error: ${error}. Resolution note: ${note}`;
  t.equal(connectionFault(framed('Error: connect ENOENT /run/a.sock')), 'connect ENOENT /run/a.sock');
  t.equal(connectionFault(framed('self-signed certificate', 'no address')), 'self-signed certificate');
  t.equal(connectionFault('Connection dropped'), 'Connection dropped');
});

t.test('a chain that loops ends', async (t) => {
  const error = new Error('again');
  error.cause = error;
  t.equal(describeError(error).split(': ').length, 8);
  t.equal(reasonOf(error), undefined);
});

t.test('an error without options has empty fields and no cause', async (t) => {
  const error = new SignetError('invalid', 'no');
  t.same(error.fields, {});
  t.equal(error.reason, undefined);
  t.notOk('cause' in error);
  t.equal(error.name, 'SignetError');
});
