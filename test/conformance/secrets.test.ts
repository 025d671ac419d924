// What is in the secrets, and what each name means, as a client gets it.

import { X509Certificate, createPrivateKey } from 'node:crypto';
import t from 'tap';
import { envoy } from '#proto/sds.js';
import { Svid } from '../../agent/x509/svid.js';
import { createIntermediate, createLeaf, createRoot, keyPem, testTime } from '../fixtures/pki.js';
import { openSdsScene } from '../fixtures/sds-scene.js';
import type { SdsClient, SecretMessage, SotwResponse } from '../fixtures/sds-script.js';
import { namesOf, node, secretsOf, typeUrl } from '../fixtures/sds-script.js';
import { bundleOf, trustDomain, uri } from '../fixtures/secrets.js';
import { parseSpiffeId } from '../../agent/identity/spiffe-id.js';

const { SPIFFECertValidatorConfig } = envoy.extensions.transport_sockets.tls.v3;
const a = uri('a');

async function fetchOne(client: SdsClient, name: string): Promise<SecretMessage> {
  const [secret] = secretsOf((await client.fetch({ resourceNames: [name] })) as SotwResponse);
  if (secret === undefined) throw new Error(`no secret ${name}`);
  return secret;
}

function text(source: { inlineBytes?: Uint8Array | null } | null | undefined): string {
  return Buffer.from(source?.inlineBytes ?? []).toString();
}

void t.test('C01: leaf first, then intermediates, no root, LF, and the PKCS#8 key of the leaf, inline', async (t) => {
  const { client, secrets } = await openSdsScene(t);
  const intermediate = createIntermediate(secrets.root);
  const leaf = createLeaf(intermediate, a);
  const chain = [leaf.certificate, intermediate.certificate];
  secrets.give(
    new Svid({ id: parseSpiffeId(a), chain, root: secrets.root.certificate, privateKeyPem: keyPem(leaf), receivedAt: testTime }),
  );
  const secret = await fetchOne(client, a);
  t.equal(secret.type, 'tlsCertificate');
  const pem = text(secret.tlsCertificate?.certificateChain);
  t.notMatch(pem, /\r/);
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n/g) ?? [];
  t.same(
    blocks.map((block) => new X509Certificate(block).fingerprint256),
    chain.map((each) => new X509Certificate(each.der).fingerprint256),
  );
  const key = text(secret.tlsCertificate?.privateKey);
  t.match(key, /^-----BEGIN PRIVATE KEY-----\n/);
  t.ok(new X509Certificate(blocks[0] ?? '').checkPrivateKey(createPrivateKey(key)));
});

void t.test('C03, C10: the roots are one PEM in trusted_ca and nothing else, under both of their names', async (t) => {
  const { client, secrets } = await openSdsScene(t);
  for (const name of ['ROOTCA', `spiffe://${trustDomain}`]) {
    const secret = await fetchOne(client, name);
    t.equal(secret.name, name);
    t.equal(secret.type, 'validationContext');
    t.equal(text(secret.validationContext?.trustedCa), bundleOf([secrets.root])?.pem.toString());
    t.equal(secret.validationContext?.customValidatorConfig ?? null, null);
  }
});

void t.test('C05, C06: ALL is the SPIFFE validator with our trust domain and self-signed roots only', async (t) => {
  const { client, secrets } = await openSdsScene(t);
  const intermediate = createIntermediate(secrets.root);
  secrets.setRoots([secrets.root, intermediate]);
  const secret = await fetchOne(client, 'ALL');
  const custom = secret.validationContext?.customValidatorConfig;
  t.equal(custom?.name, 'envoy.tls.cert_validator.spiffe');
  t.equal(custom?.typedConfig?.type_url, 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig');
  const config = SPIFFECertValidatorConfig.decode(custom?.typedConfig?.value ?? new Uint8Array());
  t.equal(config.trustDomains.length, 1);
  t.equal(config.trustDomains[0]?.name, trustDomain);
  t.equal(text(config.trustDomains[0]?.trustBundle), bundleOf([secrets.root])?.pem.toString());
  t.match(text((await fetchOne(client, 'ROOTCA')).validationContext?.trustedCa), bundleOf([intermediate])?.pem.toString());
});

void t.test('C06: ALL with intermediates alone is not served', async (t) => {
  const { client, secrets } = await openSdsScene(t);
  secrets.setRoots([createIntermediate(secrets.root)]);
  const stream = client.sotw();
  stream.send({ node, typeUrl, resourceNames: ['ALL', 'ROOTCA'] });
  t.same(namesOf(await stream.next()), ['ROOTCA']);
});

void t.test('C08: a change of the roots is pushed to all names that mean them; what was taken away is gone', async (t) => {
  const { client, secrets } = await openSdsScene(t);
  const stream = client.delta();
  stream.send({ node, typeUrl, resourceNamesSubscribe: ['ROOTCA', 'ALL', `spiffe://${trustDomain}`, a] });
  const first = await stream.next();
  stream.send({ typeUrl, responseNonce: first.nonce });
  await client.settled();
  const names = ['ALL', 'ROOTCA', `spiffe://${trustDomain}`];
  /** The first push of each of the names. */
  const pushed = async (): Promise<ReadonlyMap<string, SecretMessage>> => {
    const got = new Map<string, SecretMessage>();
    while (got.size < names.length) {
      const response = await stream.next();
      for (const secret of secretsOf(response)) got.set(secret.name, secret);
      stream.send({ typeUrl, responseNonce: response.nonce });
    }
    return got;
  };
  secrets.setRoots([secrets.root, createRoot()]);
  t.same([...(await pushed()).keys()].sort(), names);

  await client.settled();
  const left = createRoot();
  secrets.setRoots([left]);
  const last = await pushed();
  for (const name of ['ROOTCA', `spiffe://${trustDomain}`])
    t.equal(text(last.get(name)?.validationContext?.trustedCa), left.pem.toString());
  const validator = last.get('ALL')?.validationContext?.customValidatorConfig?.typedConfig?.value ?? new Uint8Array();
  t.same(
    SPIFFECertValidatorConfig.decode(validator).trustDomains.map((domain) => text(domain.trustBundle)),
    [left.pem.toString()],
  );
});

void t.test('C04: a name has one type of secret, by each protocol and for each peer', async (t) => {
  const scene = await openSdsScene(t);
  const own = scene.connect((await scene.peer({ kind: 'own', id: parseSpiffeId(a) })).path);
  const types = {
    default: 'tlsCertificate',
    [a]: 'tlsCertificate',
    ROOTCA: 'validationContext',
    ALL: 'validationContext',
    [`spiffe://${trustDomain}`]: 'validationContext',
  };
  const shown = (secrets: readonly SecretMessage[]) => Object.fromEntries(secrets.map(({ name, type }) => [name, type]));
  for (const [client, names] of [
    [own, Object.keys(types)],
    [scene.client, Object.keys(types).filter((name) => name !== 'default')],
  ] as const) {
    const expected = Object.fromEntries(Object.entries(types).filter(([name]) => names.includes(name)));
    const [sotw, delta] = [client.sotw(), client.delta()];
    sotw.send({ node, typeUrl, resourceNames: [...names] });
    delta.send({ node, typeUrl, resourceNamesSubscribe: [...names] });
    t.same(shown(secretsOf(await sotw.next())), expected);
    t.same(shown(secretsOf(await delta.next())), expected);
    t.same(shown(secretsOf((await client.fetch({ resourceNames: [...names] })) as SotwResponse)), expected);
  }
});

void t.test('O07: names that are none of ours are absent, counted, and warned of once a stream', async (t) => {
  const hostile = [
    '*',
    '',
    'x'.repeat(255),
    'nul\0byte',
    '../../etc/passwd',
    'xdstp://authority/x',
    'file-root:system',
    'sds://foo',
    a.toUpperCase(),
    `${a}/../b`,
    `${a}\n`,
    'spiffe://other.org/ns/demo/sa/a',
    '$' + '{jndi:x}',
    'Ünïcode',
  ];
  const { client, log, metrics, secrets } = await openSdsScene(t);
  const delta = client.delta();
  delta.send({ node, typeUrl, resourceNamesSubscribe: hostile });
  t.same((await delta.next()).removedResources.sort(), [...hostile].sort());
  t.equal(await metrics.read('signet_sds_names_unknown_total'), hostile.length);
  delta.send({ typeUrl, resourceNamesSubscribe: ['one more'] });
  t.same((await delta.next()).removedResources, ['one more']);
  const sotw = client.sotw();
  sotw.send({ node, typeUrl, resourceNames: [...hostile, a] });
  t.same(namesOf(await sotw.next()), [a]);
  const warnings = log.lines.filter((line) => line.level === 'warn');
  t.equal(warnings.length, 2);
  t.ok(warnings.every((line) => !line.message.includes('jndi')));
  t.same(warnings[0]?.fields['reasons'], ['name-invalid', 'trust-domain-foreign']);
  t.equal(secrets.subscribers(), 1, 'nothing is watched for them');
});

void t.test('O07: a name longer than any of ours ends its stream, and no other', async (t) => {
  const { client } = await openSdsScene(t);
  const stream = client.delta();
  stream.send({ node, typeUrl, resourceNamesSubscribe: ['x'.repeat(1025)] });
  t.equal((await stream.ended).code, 3);
  t.equal((await fetchOne(client, a)).name, a);
});

void t.test(
  'C09: an Envoy that accepts P-256 only is offered a P-384 certificate with one warning; its refusal ends in no loop',
  async (t) => {
    const { client, clock, log, metrics, secrets } = await openSdsScene(t);
    secrets.issue(a, 'ec-p384');
    const version = (minorNumber: number) => ({ ...node, userAgentBuildVersion: { version: { majorNumber: 1, minorNumber } } });
    for (const [minor, warnings] of [
      [40, 0],
      [33, 0],
      [32, 1],
    ] as const) {
      log.lines.length = 0;
      const stream = client.sotw();
      stream.send({ node: version(minor), typeUrl, resourceNames: [a] });
      await stream.next();
      secrets.issue(a, 'ec-p384');
      await clock.advance(5_000);
      await stream.next();
      t.equal(log.lines.filter((line) => line.message.includes('p-256')).length, warnings, `1.${minor}`);
      stream.call.cancel();
    }

    const old = client.sotw();
    old.send({ node: version(32), typeUrl, resourceNames: [a] });
    const { nonce } = await old.next();
    old.send({
      responseNonce: nonce,
      typeUrl,
      resourceNames: [a],
      errorDetail: { code: 13, message: 'only P-256 ECDSA certificates are supported' },
    });
    await clock.advance(600_000);
    await client.settled();
    t.equal(old.untaken, 0, 'refused bytes are not sent again');
    t.equal(await metrics.read('signet_sds_requests_total', { protocol: 'sotw', kind: 'nack' }), 1);
  },
);
