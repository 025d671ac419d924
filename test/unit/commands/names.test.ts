import t from 'tap';
import { toFullName } from '../../../agent/commands/names.js';
import { SignetError } from '../../../agent/runtime/errors.js';

const agent = { status: async () => ({ trustDomain: 'td.test' }) as never };
const { signal } = new AbortController();

t.test('the short form is completed with the trust domain of the agent', async (t) => {
  t.equal(await toFullName('shop/cart', agent, signal), 'spiffe://td.test/ns/shop/sa/cart');
  await t.rejects(toFullName('Shop/cart', agent, signal), { kind: 'invalid', message: 'namespace is not valid' });
});

t.test('everything else is passed on, without asking the agent', async (t) => {
  const silent = { status: () => Promise.reject(new Error('asked')) };
  for (const name of ['default', 'ROOTCA', 'spiffe://td.test/ns/a/sa/b', 'a/b/c', ''])
    t.equal(await toFullName(name, silent, signal), name);
});

t.test('who may not ask the agent is told to write the name in full', async (t) => {
  const closed = { status: () => Promise.reject(new SignetError('denied', 'not you')) };
  await t.rejects(toFullName('shop/cart', closed, signal), { name: 'SignetError', kind: 'denied', message: /full name/ });
  const gone = { status: () => Promise.reject(new SignetError('unavailable', 'gone')) };
  await t.rejects(toFullName('shop/cart', gone, signal), { name: 'SignetError', message: 'gone' });
});
