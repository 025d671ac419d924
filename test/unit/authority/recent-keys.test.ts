// Keys and the identities they were certified for, as far as they are remembered.

import t from 'tap';
import { createRecentKeys } from '../../../agent/authority/recent-keys.js';

t.test('a key of another identity, until it is forgotten', (t) => {
  const keys = createRecentKeys(2);
  t.ok(keys.claim('a', 'one'));
  t.ok(keys.claim('a', 'one'));
  t.notOk(keys.claim('a', 'two'));
  t.notOk(keys.claim('a', 'two'), 'a try changes nothing');
  t.ok(keys.claim('b', 'one'));
  t.ok(keys.claim('a', 'one'));
  t.ok(keys.claim('c', 'one'));
  t.notOk(keys.claim('a', 'two'), 'used again, so it is not the oldest');
  t.ok(keys.claim('b', 'two'), 'forgotten');
  t.end();
});
