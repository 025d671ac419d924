import t from 'tap';
import { patchObject } from '../../../agent/kube/objects.js';
import { createApiStore } from '../../fixtures/api-store.js';
import { createKubeScene, never } from '../../fixtures/kube.js';

const path = '/api/v1/namespaces/shop/secrets/one';
const move = { op: 'move', from: '/data/next', path: '/data/now' } as const;
const write = { op: 'add', path: '/data/more', value: 'three' } as const;

t.test('a patch changes the version that it was made for, or it is a conflict', async (t) => {
  const rows = [
    { name: 'this version', data: { now: 'one', next: 'two' }, operations: [move, write], kind: undefined },
    { name: 'another version, which it fits', version: '7', data: { now: 'one', next: 'two' }, operations: [move], kind: 'conflict' },
    { name: 'another version, which it does not fit', version: '7', data: { now: 'one' }, operations: [move], kind: 'conflict' },
    { name: 'this version, which it does not fit', data: { now: 'one' }, operations: [move], kind: 'invalid' },
    { name: 'an object that is gone', version: '7', operations: [write], kind: 'notFound' },
  ] as const;
  for (const { name, operations, kind, ...row } of rows) {
    await t.test(name, async (t) => {
      const store = createApiStore();
      const { client } = await createKubeScene(t, (call) => store.handle(call));
      if ('data' in row) store.put(path, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'one' }, data: row.data });
      const version = 'version' in row ? row.version : (store.get(path)?.metadata.resourceVersion ?? '');
      const patching = patchObject(client, { path, version, operations }, never);
      if (kind !== undefined) return void (await t.rejects(patching, { name: 'SignetError', kind }));
      await patching;
      t.same(store.get(path)?.data, { now: 'two', more: 'three' });
    });
  }
});

t.test('a subresource that is refused as invalid: its object is read, for which there is a right', async (t) => {
  const store = createApiStore();
  const { client } = await createKubeScene(t, (call) => store.handle(call));
  store.put(path, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'one' }, data: { now: 'one' } });
  const version = store.get(path)?.metadata.resourceVersion ?? '';
  const isOfSubresource = ({ path: called }: { readonly path: string }): boolean => called === `${path}/status`;
  store.refuse = (call) => (isOfSubresource(call) ? (call.method === 'PATCH' ? 422 : 403) : undefined);
  const patching = patchObject(client, { path, subresource: 'status', version, operations: [write] }, never);
  await t.rejects(patching, { name: 'SignetError', kind: 'invalid' });
});
