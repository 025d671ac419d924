import { join } from 'node:path';
import t from 'tap';
import { readNodeUid } from '../../../agent/kube/node-uid.js';

const token = (claims: unknown): string => `x.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.x`;
const bound = (node: unknown): string => token({ 'sub': 'system:serviceaccount:a:b', 'kubernetes.io': { namespace: 'a', node } });

t.test('the UID of the node is in a token that is bound to a pod', async (t) => {
  const files = {
    'bound': bound({ name: 'node-a', uid: '7f0c' }),
    'with-newline': `${bound({ name: 'node-a', uid: '7f0d' })}\n`,
    'older': bound(undefined),
    'odd': bound({ uid: 7 }),
    'empty': bound({ uid: '' }),
    'other': token({ aud: 'x' }),
    'null': token({ 'kubernetes.io': null }),
    'none': 'no token',
  };
  const directory = t.testdir(files);
  const read = (...names: string[]): string | undefined => readNodeUid(names.map((name) => join(directory, name)));
  t.equal(read('bound'), '7f0c');
  t.equal(read('with-newline'), '7f0d');
  for (const name of ['older', 'odd', 'empty', 'other', 'null', 'none', 'missing']) t.equal(read(name), undefined, name);
  t.equal(read('missing', 'older', 'bound', 'with-newline'), '7f0c', 'the first that has one counts');
  t.equal(read(), undefined);
});
