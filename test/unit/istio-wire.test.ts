import { Metadata } from '@grpc/grpc-js';
import t from 'tap';
import { createCertificateMethod, readCaller } from '../../agent/istio-wire.js';
import type { google } from '#proto/istio-ca.js';
import { istio } from '#proto/istio-ca.js';

const { requestSerialize, requestDeserialize, responseSerialize, responseDeserialize } = createCertificateMethod;

const id = 'spiffe://example.org/ns/shop/sa/cart';

const text = (value: string): string => Buffer.from(value).toString('hex');

t.test('R034, F041: a request with an impersonated identity, byte by byte', async (t) => {
  const bytes = requestSerialize({ csrPem: 'CSR', lifetimeMs: 3_600_999, impersonatedIdentity: id });
  const golden = [
    `0a03${text('CSR')}`, // field 1, csr
    '18901c', // field 3, validity_duration: 3600
    '2240', // field 4, metadata: a Struct of 64 bytes
    '0a3e', // its field 1, fields: one entry of 62 bytes
    `0a14${text('ImpersonatedIdentity')}`, // key
    '1226', // value, of 38 bytes
    `1a24${text(id)}`, // field 3 of the value, string_value
  ];
  t.equal(bytes.toString('hex'), golden.join(''));
  t.same(requestDeserialize(bytes), { csrPem: 'CSR', lifetimeMs: 3_600_000, impersonatedIdentity: id });
});

t.test('a request for the own identity has no metadata', async (t) => {
  const bytes = requestSerialize({ csrPem: 'CSR', lifetimeMs: 60_000 });
  t.equal(bytes.toString('hex'), `0a03${text('CSR')}183c`);
  t.same(requestDeserialize(bytes), { csrPem: 'CSR', lifetimeMs: 60_000 });
});

t.test('an impersonated identity that is empty or no string is none', async (t) => {
  const values: google.protobuf.Value.$Properties[] = [{ stringValue: '' }, { numberValue: 1 }, { structValue: {} }, {}];
  for (const value of values) {
    const metadata = { fields: { ImpersonatedIdentity: value } };
    const bytes = Buffer.from(istio.v1.auth.IstioCertificateRequest.encode({ csr: 'CSR', metadata }).finish());
    t.same(requestDeserialize(bytes), { csrPem: 'CSR', lifetimeMs: 0 });
  }
});

t.test('an answer keeps its elements, and may have none', async (t) => {
  for (const elements of [[], [''], ['LEAF', 'ROOT']]) t.same(responseDeserialize(responseSerialize(elements)), elements);
  t.same(responseDeserialize(Buffer.alloc(0)), []);
});

t.test('the first bearer token counts, and a cluster that is named once', async (t) => {
  const read = (values: readonly (readonly [name: string, value: string])[]) => {
    const metadata = new Metadata();
    for (const [name, value] of values) metadata.add(name, value);
    return readCaller(metadata);
  };
  t.same(read([]), { token: undefined, clusterId: '' });
  t.same(
    read([
      ['authorization', 'Basic x'],
      ['authorization', 'Bearer one'],
      ['authorization', 'Bearer two'],
      ['clusterid', 'east'],
    ]),
    { token: 'one', clusterId: 'east' },
  );
  t.equal(read([['authorization', 'bearer one']]).token, undefined, 'as Istio has it, in this case only');
  t.equal(
    read([
      ['clusterid', 'east'],
      ['clusterid', 'west'],
    ]).clusterId,
    '',
  );
});
