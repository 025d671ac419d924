import { deepStrictEqual } from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { stringify } from 'yaml';
import type { Manifests } from '../../../agent/pods/manifest.js';
import { parseManifests } from '../../../agent/pods/manifest.js';
import type { Pod } from '../../../agent/pods/pod.js';
import { SignetError } from '../../../agent/runtime/errors.js';

const parse = (text: string | Buffer, known?: Manifests['parts']): Manifests =>
  parseManifests(Buffer.from(text), known === undefined ? { node: 'node-a' } : { node: 'node-a', known });

const podsOf = (text: string): readonly Pod[] => [...parse(text).pods.values()];

/** How many pods there are, or the fault as people see it. */
const outcome = (text: string | Buffer): string | number => {
  try {
    return parse(text).pods.size;
  } catch (error) {
    if (!(error instanceof SignetError) || error.reason !== 'pods-file-invalid') throw error;
    const { document, line, fault } = error.fields;
    return `document ${document}, line ${line}: ${fault}`;
  }
};

/** Four lines and whatever follows. */
const pod = (name: string, more = ''): string => `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\n${more}`;

t.test('a pod with nothing but a name gets the defaults of Kubernetes', async (t) => {
  t.same(podsOf(pod('a')), [
    {
      uid: '9efb3611-7d50-866e-adc1-22eb79d9e2f3',
      namespace: 'default',
      name: 'a',
      serviceAccount: 'default',
      phase: 'Running',
      labels: {},
      hostNetwork: false,
      mirror: false,
    },
  ]);
  const empty = '  namespace: ""\n  uid: ""\n  labels:\nspec:\n  serviceAccountName: ""\nstatus: null\n';
  t.same(podsOf(pod('a', empty)), podsOf(pod('a')), 'empty is absent');
});

t.test('what a manifest says is taken over', async (t) => {
  const text = pod(
    'a',
    [
      '  namespace: shop',
      '  uid: 6f1c1b1e-0000-4000-8000-000000000001',
      '  labels: {app: cart, "1": "2"}',
      '  deletionTimestamp: "2026-01-01T00:00:00Z"',
      'spec:',
      '  serviceAccountName: cart',
      '  serviceAccount: old',
      '  nodeName: node-a',
      '  hostNetwork: true',
      '  containers: [{name: app, image: example.org/cart}]',
      'status: {phase: Pending}',
    ].join('\n'),
  );
  t.same(podsOf(text), [
    {
      uid: '6f1c1b1e-0000-4000-8000-000000000001',
      namespace: 'shop',
      name: 'a',
      serviceAccount: 'cart',
      phase: 'Pending',
      labels: { 'app': 'cart', '1': '2' },
      hostNetwork: true,
      mirror: false,
    },
  ]);
  t.equal(podsOf(pod('a', 'spec: {serviceAccount: old}'))[0]?.serviceAccount, 'old', 'the deprecated field still counts');
});

t.test('static pods and their mirrors are marked', async (t) => {
  const mirrors = [
    '  annotations: {kubernetes.io/config.mirror: abc}',
    '  annotations: {kubernetes.io/config.source: file}',
    '  ownerReferences: [{kind: Node, name: node-a}]',
  ];
  for (const more of mirrors) t.equal(podsOf(pod('a', more))[0]?.mirror, true, more);
  for (const more of ['  annotations: {kubernetes.io/config.source: api}', '  ownerReferences: [{kind: ReplicaSet, name: a}]']) {
    t.equal(podsOf(pod('a', more))[0]?.mirror, false, more);
  }
});

t.test('only pods of this node, or of no node, are kept', async (t) => {
  const text = [pod('a', 'spec: {nodeName: node-a}\n'), pod('b', 'spec: {nodeName: node-b}\n'), pod('c')].join('---\n');
  t.same(
    podsOf(text).map(({ name }) => name),
    ['a', 'c'],
  );
});

t.test('the ambient mesh: the label of the pod, or else of its namespace, and never the host network', async (t) => {
  const mode = (value: string): string => `  labels: {istio.io/dataplane-mode: ${value}}\n`;
  const namespace = `apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\n${mode('ambient')}`;
  const text = [
    pod('a', `  namespace: shop\n`),
    pod('b', `  namespace: shop\n${mode('none')}`),
    pod('c', `  namespace: shop\nspec: {hostNetwork: true}\n`),
    namespace,
    pod('d'),
    pod('e', mode('ambient')),
  ].join('---\n');
  t.same(
    podsOf(text)
      .filter(({ ambient }) => ambient)
      .map(({ name }) => name),
    ['a', 'e'],
  );
});

const list = (items: readonly object[], kind = 'List') => ({ apiVersion: 'v1', kind, metadata: {}, items });
const object = (name: string) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name } });

t.test('texts that hold pods', async (t) => {
  const texts: readonly (readonly [what: string, text: string | Buffer, pods: number])[] = [
    ['an empty file', '', 0],
    ['blank lines', '\n\n', 0],
    ['comments only', '# nothing\n# here\n', 0],
    ['empty documents', '---\n---\n# none\n---\n', 0],
    ['null', 'null\n', 0],
    ['one document', pod('a'), 1],
    ['a marker at the end', `${pod('a')}---\n`, 1],
    ['a marker without line end', `${pod('a')}---`, 1],
    ['a comment first', `# pods\n---\n${pod('a')}`, 1],
    ['text behind the marker', `--- # a\n${pod('a')}`, 1],
    ['document ends', `${pod('a')}...\n---\n${pod('b')}...\n`, 2],
    ['a byte order mark', `\ufeff${pod('a')}`, 1],
    ['CRLF', [pod('a'), pod('b')].join('---\n').replaceAll('\n', '\r\n'), 2],
    ['a directive', `%YAML 1.2\n---\n${pod('a')}...\n%YAML 1.2\n---\n${pod('b')}`, 2],
    ['dashes inside a text', pod('a', '  annotations:\n    note: |\n      x\n      ---\n      y\n'), 1],
    ['other kinds between', `apiVersion: apps/v1\nkind: Deployment\n---\n${pod('a')}---\napiVersion: v1\nkind: Service\n`, 1],
    ['a pod of another group', pod('a').replace('v1', 'example.org/v1'), 0],
    ['a List', stringify(list([object('a'), object('b'), { apiVersion: 'v1', kind: 'Service' }])), 2],
    ['a PodList whose items have no kind', stringify(list([{ metadata: { name: 'a' } }], 'PodList')), 1],
    ['a List without items', 'apiVersion: v1\nkind: List\nitems:\n', 0],
    ['JSON', JSON.stringify(object('a')), 1],
    ['a List as indented JSON', JSON.stringify(list([object('a'), object('b')]), undefined, 2), 2],
    ['a PodList as JSON', JSON.stringify(list([{ metadata: { name: 'a' } }], 'PodList')), 1],
    ['JSON documents', `${JSON.stringify(object('a'))}\n---\n${JSON.stringify(object('b'))}\n`, 2],
    ['flow style that is not JSON', '{apiVersion: v1, kind: Pod, metadata: {name: a}}', 1],
    ['anchors and aliases', pod('a', '  labels: &l {app: a}\n  annotations: *l\n'), 1],
    ['keys that mean something to JavaScript', pod('a', '  labels: {__proto__: x, constructor: y}\n__proto__: {z: 1}\n'), 1],
  ];
  for (const [what, text, pods] of texts) t.equal(outcome(text), pods, what);
  const others = ['v1\nkind: Service\n', 'apps/v1\nkind: Deployment\n', 'v1\nkind: Service\n'].map((text) => `apiVersion: ${text}`);
  t.same(parse(others.join('---\n')).otherKinds, ['Deployment', 'Service']);
});

t.test('faults name document, line and field', async (t) => {
  const namespace = 'is not a valid namespace (lower-case letters, digits and "-")';
  const name = 'is not a valid name (lower-case letters, digits, "-" and ".")';
  const faults: readonly (readonly [text: string | Buffer, fault: string])[] = [
    // Syntax
    [pod('a').replace('  name', '\tname'), 'document 1, line 4: Tabs are not allowed as indentation'],
    [`${pod('a')}---\na: b: c\n`, 'document 2, line 6: Nested mappings are not allowed in compact mappings'],
    [`${pod('a')}kind: Pod\n`, 'document 1, line 5: key kind is there twice'],
    [`# 1\n---\n# 2\n${pod('a', '  labels:\n    x: a\n    x: b\n')}`, 'document 1, line 10: key x is there twice'],
    ['a: !foo 1\n', 'document 1, line 1: Unresolved tag: !foo'],
    ['a: *b\n', 'document 1, line 1: Unresolved alias (the anchor must be set before the alias): b'],
    ['? {a: 1}\n: b\n', 'document 1, line 1: With stringKeys, all keys must be strings'],
    ['{"apiVersion": "v1",\n"kind": "Pod"\n"metadata": {}}', 'document 1, line 3: Missing , between flow map items'],
    [Buffer.from([0xff, 0xfe, 0x61, 0]), 'document 1, line 1: the file is not valid UTF-8'],
    // Too much of something
    [`a: &a [1]\nb: [${'*a,'.repeat(1000)}]\n`, 'document 1, line 1: Excessive alias count indicates a resource exhaustion attack'],
    ['['.repeat(50_000), 'document 1, line 1: the nesting is too deep'],
    [`a: ${'['.repeat(5_000)}${']'.repeat(5_000)}`, 'document 1, line 1: the nesting is too deep'],
    [`${pod('a')}---\na: ${'x'.repeat(10 * 1024 * 1024)}`, 'document 2, line 5: more than 2 MiB of YAML: JSON may be larger'],
    [`{"a": "${'x'.repeat(3 * 1024 * 1024)}`, 'document 1, line 1: not valid JSON'],
    [JSON.stringify({ a: 'x'.repeat(3 * 1024 * 1024) }), 'document 1, line 1: apiVersion is missing'],
    // Shape
    ['just text\n', 'document 1, line 1: the manifest must be a mapping'],
    [`[${JSON.stringify(object('a'))}]`, 'document 1, line 1: the manifest must be a mapping'],
    ['\nkind: Pod\n', 'document 1, line 2: apiVersion is missing'],
    ['apiVersion: v1\n', 'document 1, line 1: kind is missing'],
    ['apiVersion: v1\nkind: Pod\n', 'document 1, line 1: metadata is missing'],
    ['apiVersion: v1\nkind: Pod\nmetadata:\n  labels: {}\n', 'document 1, line 4: metadata.name is missing'],
    ['apiVersion: v1\nkind: Pod\nmetadata: []\n', 'document 1, line 3: metadata must be a mapping'],
    [`${pod('a')}---\n\n${pod('1')}`, 'document 2, line 10: metadata.name must be a string'],
    [pod('A'), `document 1, line 4: metadata.name ${name}`],
    [pod('a', '  namespace: a.b\n'), `document 1, line 5: metadata.namespace ${namespace}`],
    [pod('a', '  uid: 12\n'), 'document 1, line 5: metadata.uid must be a string'],
    [pod('a', '  uid: a/b\n'), 'document 1, line 5: metadata.uid is not a valid uid'],
    [pod('a', '  labels:\n    version: 1\n'), 'document 1, line 6: metadata.labels.version must be a string'],
    [pod('a', '  labels: [x]\n'), 'document 1, line 5: metadata.labels must be a mapping of strings'],
    [pod('a', '  ownerReferences: {}\n'), 'document 1, line 5: metadata.ownerReferences must be a list'],
    [pod('a', 'spec: text\n'), 'document 1, line 5: spec must be a mapping'],
    [pod('a', 'spec:\n  serviceAccountName: a b\n'), `document 1, line 6: spec.serviceAccountName ${name}`],
    [pod('a', 'spec:\n  hostNetwork: yes\n'), 'document 1, line 6: spec.hostNetwork must be true or false'],
    [pod('a', 'status:\n  phase: Dead\n'), 'document 1, line 6: status.phase must be one of Pending, Running, Succeeded, Failed, Unknown'],
    ['apiVersion: v1\nkind: List\nitems: a\n', 'document 1, line 3: items must be a list'],
    ['apiVersion: v1\nkind: List\nitems:\n- kind: Pod\n', 'document 1, line 4: items.0.apiVersion is missing'],
    ['apiVersion: v1\nkind: PodList\nitems:\n- a\n', 'document 1, line 4: items.0 must be a mapping'],
    [
      JSON.stringify(list([object('a'), { ...object('b'), metadata: { name: 5 } }]), undefined, 1),
      'document 1, line 17: items.1.metadata.name must be a string',
    ],
    // Twice
    [`${pod('a')}---\n${pod('a')}`, 'document 2, line 9: pod default/a is there twice'],
    [`${pod('a', '  uid: u\n')}---\n${pod('b', '  uid: u\n')}`, 'document 2, line 11: uid u is there twice'],
    [JSON.stringify(list([object('a'), object('a')]), undefined, 1), 'document 1, line 17: pod default/a is there twice'],
  ];
  for (const [text, fault] of faults) t.equal(outcome(text), fault, fault);
});

t.test('a large mapping is checked for duplicate keys in one pass', { timeout: 20_000 }, async (t) => {
  // 20,000 keys take the library's own check seconds, and four times as long for twice as many.
  const keys = Array.from({ length: 60_000 }, (_, index) => `k${index}: v`).join('\n');
  t.equal(outcome(keys), 'document 1, line 1: apiVersion is missing');
});

t.test('parts that did not change are not parsed again', async (t) => {
  const first = parse([pod('a'), pod('b'), pod('c')].join('---\n'));
  const second = parse([pod('new'), pod('a'), pod('c')].join('---\n'), first.parts);
  const [, a, c] = [...second.pods.values()];
  t.equal(a?.name, 'a');
  const before = new Map([...first.pods.values()].map((each) => [each.name, each]));
  t.not(a, before.get('a'), 'another text: now behind a marker');
  t.equal(c, before.get('c'), 'the very object of before');
  t.same([...second.parts.keys()].length, 3, 'parts that are gone are forgotten');
  t.equal(outcome([pod('a'), pod('a')].join('---\n')), 'document 2, line 9: pod default/a is there twice');
});

t.test('the same pods come out of every way to write them, and out of every order of edits', async (t) => {
  const names = fc.uniqueArray(fc.stringMatching(/^[a-z][a-z0-9-]{0,8}[a-z0-9]$/), { maxLength: 8 });
  fc.assert(
    fc.property(names, names, (earlier, now) => {
      const objects = now.map(object);
      const documents = objects.map((each) => stringify(each)).join('---\n');
      const expected = now.slice().sort();
      const known = parse(earlier.map((name) => pod(name)).join('---\n')).parts;
      const json = objects.map((each) => JSON.stringify(each)).join('\n---\n');
      const texts = [documents, `---\n${documents}`, stringify(list(objects)), JSON.stringify(list(objects)), json];
      for (const text of texts) deepStrictEqual([...parse(text, known).pods.values()].map(({ name }) => name).sort(), expected);
    }),
    { numRuns: 50, interruptAfterTimeLimit: 3_000 },
  );
  t.pass();
});

t.test('no bytes make it throw anything but a fault of the file', async (t) => {
  const signs = ['---\n', '...\n', '- ', '{', '}', '[', ']', '"', ': ', '&a ', '*a', '|\n', '\t', '%', '\r\n', '# x\n', '!', 'items:\n'];
  const bits = fc.constantFrom(pod('a'), pod('b'), ...signs);
  const texts = fc.array(bits, { maxLength: 12 }).map((all) => Buffer.from(all.join('')));
  const bytes = fc.uint8Array({ maxLength: 64 }).map((all) => Buffer.from(all));
  fc.assert(
    fc.property(fc.oneof(texts, bytes), (content) => void outcome(content)),
    { numRuns: 500, interruptAfterTimeLimit: 3_000 },
  );
  t.pass();
});
