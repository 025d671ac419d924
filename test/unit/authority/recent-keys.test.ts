// Keys and the identities they were certified for, as far as they are remembered.

import t from 'tap';
import { createRecentKeys } from '../../../agent/authority/recent-keys.js';

t.test('a key of another identity, until it is forgotten', (t) => {
  const keys = createRecentKeys(2);
  t.notOk(keys.isOfAnother('a', 'one'));
  keys.remember('a', 'one');
  t.notOk(keys.isOfAnother('a', 'one'));
  t.ok(keys.isOfAnother('a', 'two'));
  keys.remember('b', 'one');
  keys.remember('a', 'one');
  keys.remember('c', 'one');
  t.ok(keys.isOfAnother('a', 'two'), 'used again, so it is not the oldest');
  t.notOk(keys.isOfAnother('b', 'two'), 'forgotten');
  t.end();
});
