import t from 'tap';
import { readFileSync } from 'node:fs';
import { evaluate, faultsOf } from '../../fixtures/config.js';

const sources = `
trustDomain: cluster.local
node: node-1
pods: {sources: [{kind: file, path: /pods.yaml}]}
trustBundle: {sources: [{kind: file, path: /roots.pem}]}
`;

const istio = 'kind: istio, endpoints: ["istiod.istio-system.svc:15012"], tls: {roots: {kind: file, path: /ca.pem}}';

t.test('an istio upstream, from the least to all of it', async (t) => {
  t.strictSame(evaluate(`${sources}upstreams: [{${istio}, tokenFile: /token}]`).config.upstreams, [
    {
      kind: 'istio',
      endpoints: [{ host: 'istiod.istio-system.svc', port: 15_012 }],
      tls: { roots: { kind: 'file', path: '/ca.pem' } },
      auth: 'node',
      audience: 'istio-ca',
      tokenFile: '/token',
    },
  ]);
  const full = `${sources}
upstreams:
  - kind: istio
    endpoints: ['10.0.0.1:15012', '[::1]:15012']
    tls:
      roots: {kind: file, path: /ca.pem}
      serverName: istiod.istio-system.svc
    auth: workload
    audience: signet-ca
    clusterId: Kubernetes
    headers: {x-tenant: blue}
    roots: {kind: file, path: /mine.pem}
`;
  t.strictSame(evaluate(full).config.upstreams, [
    {
      kind: 'istio',
      endpoints: [
        { host: '10.0.0.1', port: 15_012 },
        { host: '::1', port: 15_012 },
      ],
      tls: { roots: { kind: 'file', path: '/ca.pem' }, serverName: 'istiod.istio-system.svc' },
      auth: 'workload',
      audience: 'signet-ca',
      clusterId: 'Kubernetes',
      headers: { 'x-tenant': 'blue' },
      roots: { kind: 'file', path: '/mine.pem' },
    },
  ]);
});

t.test('roots of the connection from a ConfigMap', async (t) => {
  const roots = '{kind: configmap, namespace: istio-system, name: istio-ca-root-cert}';
  const { upstreams } = evaluate(
    `${sources}upstreams: [{${istio.replace('{kind: file, path: /ca.pem}', roots)}, tokenFile: /token}]`,
  ).config;
  t.match(upstreams, [{ tls: { roots: { kind: 'configmap', namespace: 'istio-system', name: 'istio-ca-root-cert' } } }]);
});

t.test('several upstreams keep their order', async (t) => {
  const two = `${sources}upstreams: [{${istio}, tokenFile: /token}, {kind: built-in}]`;
  t.strictSame(
    evaluate(two).config.upstreams.map(({ kind }) => kind),
    ['istio', 'built-in'],
  );
});

t.test('faults', async (t) => {
  const headerFault =
    'upstreams[0].headers (line 6) must have names in lower case that are neither authorization, clusterid nor of HTTP and gRPC';
  const cases: readonly (readonly [string, string])[] = [
    [istio, 'upstreams[0].tokenFile (line 6) is required with auth node: the projected token of this agent for the CA'],
    [
      `${istio}, auth: workload, tokenFile: /token`,
      'upstreams[0].tokenFile (line 6) has no effect with auth workload, which asks with a token of each workload',
    ],
    [`${istio}, auth: caller`, 'upstreams[0].auth (line 6) must be node or workload'],
    [`${istio}, tokenFile: token`, 'upstreams[0].tokenFile (line 6) must be an absolute path'],
    [`${istio}, tokenFile: /token, clusterID: x`, 'upstreams[0].clusterID (line 6) is unknown; did you mean clusterId?'],
    [`${istio}, tokenFile: /token, clusterId: "é"`, 'upstreams[0].clusterId (line 6) must be what the CA calls this cluster'],
    [`${istio}, tokenFile: /token, headers: {x: "a\\nb"}`, 'upstreams[0].headers.x (line 6) must be printable ASCII'],
    ...['authorization', 'clusterid', 'X-Tenant', 'grpc-timeout', 'x-bin', '":path"'].map(
      (name) => [`${istio}, tokenFile: /token, headers: {${name}: x}`, headerFault] as const,
    ),
    [
      istio.replace('svc:15012', 'svc') + ', tokenFile: /token',
      'upstreams[0].endpoints[0] (line 6) must be an address and port, such as istiod.istio-system.svc:15012',
    ],
    [
      istio.replace(':15012', ':0') + ', tokenFile: /token',
      'upstreams[0].endpoints[0] (line 6) must be an address and port, such as istiod.istio-system.svc:15012',
    ],
    [istio.replace(/\[.*?\]/, '[]') + ', tokenFile: /token', 'upstreams[0].endpoints (line 6) must have at least one entry: host:port'],
    [istio.replace(/\[.*?\]/, '[a:1, b:1, A:1]') + ', tokenFile: /token', 'upstreams[0].endpoints (line 6) must name each endpoint once'],
    [istio.replace('{roots: {kind: file, path: /ca.pem}}', '{}') + ', tokenFile: /token', 'upstreams[0].tls.roots (line 6) is required'],
    ['kind: vault', 'upstreams[0].kind (line 6) must be istio, kubernetes-csr, pod-certificate, cert-manager or built-in'],
    ['kind: kubernetes-csr', 'upstreams[0].signerName (line 6) is required'],
    [
      'kind: pod-certificate, signerName: workload',
      'upstreams[0].signerName (line 6) must be the name of a signer, such as example.com/ca',
    ],
    [
      'kind: kubernetes-csr, signerName: example.com/ca, audience: x',
      'upstreams[0].audience (line 6) is unknown; known here: kind, signerName, roots',
    ],
    ['kind: cert-manager, issuerRef: {kind: Issuer}', 'upstreams[0].issuerRef.name (line 6) is required'],
    ['kind: cert-manager, issuerRef: {name: a/b}', 'upstreams[0].issuerRef.name (line 6) must be the name of an issuer'],
  ];
  for (const [upstream, fault] of cases) t.strictSame(faultsOf(`${sources}upstreams: [{${upstream}}]`), [fault], upstream);
});

t.test('upstreams of request objects, from the least to all of it', async (t) => {
  const roots = '{kind: cluster-trust-bundle, signerName: example.com/ca}';
  const text = `${sources}
upstreams:
  - {kind: kubernetes-csr, signerName: example.com/ca}
  - {kind: pod-certificate, signerName: example.com/ca, roots: ${roots}}
  - {kind: cert-manager, issuerRef: {name: ca}}
  - {kind: cert-manager, issuerRef: {name: ca, kind: AWSPCAIssuer, group: awspca.cert-manager.io}, roots: ${roots}}
`;
  const named = { roots: { kind: 'cluster-trust-bundle', signerName: 'example.com/ca' } };
  t.strictSame(evaluate(text).config.upstreams, [
    { kind: 'kubernetes-csr', signerName: 'example.com/ca' },
    { kind: 'pod-certificate', signerName: 'example.com/ca', ...named },
    { kind: 'cert-manager', issuerRef: { name: 'ca', kind: 'ClusterIssuer', group: 'cert-manager.io' } },
    { kind: 'cert-manager', issuerRef: { name: 'ca', kind: 'AWSPCAIssuer', group: 'awspca.cert-manager.io' }, ...named },
  ]);
});

t.test('F156 R111 what the API server would refuse is refused when the configuration is read', async (t) => {
  const faultsWith = (kind: string, certificate: string): string[] =>
    faultsOf(`${sources}upstreams: [{kind: ${kind}, signerName: example.com/ca}]\ncertificate: {${certificate}}`);
  t.strictSame(faultsWith('kubernetes-csr', 'lifetime: 599s'), [
    'certificate.lifetime must be at least 10m with the upstream kubernetes-csr',
  ]);
  t.strictSame(faultsWith('kubernetes-csr', 'lifetime: 10m, keyType: rsa-2048'), []);
  t.strictSame(faultsWith('pod-certificate', 'lifetime: 59m, keyType: rsa-2048'), [
    'certificate.lifetime must be at least 1h with the upstream pod-certificate',
    'certificate.keyType must not be rsa-2048 with the upstream pod-certificate',
  ]);
  t.strictSame(faultsWith('pod-certificate', 'lifetime: 1h, keyType: rsa-3072'), []);
});

t.test('roots of the issuer need an issuer', async (t) => {
  const text = sources.replace('{kind: file, path: /roots.pem}', '{kind: issuer}');
  const fault = 'trustBundle.sources must not have the kind issuer, which is its default, without a built-in upstream';
  t.strictSame(faultsOf(`${text}upstreams: [{${istio}, tokenFile: /token}]`), [fault]);
  t.strictSame(faultsOf(`${text}upstreams: [{${istio}, tokenFile: /token}, {kind: built-in}]`), []);
});

t.test('the example of the page on upstreams is accepted', async (t) => {
  t.equal(evaluate(readFileSync('docs/examples/agent-istio.yaml', 'utf8')).config.upstreams.length, 2);
});
