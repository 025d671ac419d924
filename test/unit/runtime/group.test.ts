import { join } from 'node:path';
import t from 'tap';
import { findGroupId } from '../../../agent/runtime/group.js';

t.test('a group is found by name or number', async (t) => {
  const directory = t.testdir({ group: 'root:x:0:\nproxies:x:1234:envoy,web\nbroken:x\nodd:x:12x:\n' });
  const file = join(directory, 'group');
  t.equal(findGroupId('proxies', file), 1234);
  t.equal(findGroupId('root', file), 0);
  t.equal(findGroupId('77', file), 77, 'a number needs no entry');
  t.equal(findGroupId('root'), 0, 'the groups of this system');
  for (const group of ['proxie', 'broken', 'odd', 'envoy', '']) {
    t.throws(() => findGroupId(group, file), { message: /no such group/, kind: 'invalid', fields: { group, file } }, group);
  }
  t.throws(() => findGroupId('root', join(directory, 'none')), { message: 'read the groups of this system', kind: 'invalid' });
});
