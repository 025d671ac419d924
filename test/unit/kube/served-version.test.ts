import t from 'tap';
import { findServedVersion } from '../../../agent/kube/served-version.js';
import { createKubeScene, never } from '../../fixtures/kube.js';

t.test('the first version that has the resource', async (t) => {
  const served: Readonly<Record<string, unknown>> = {
    v1: { resources: [{ name: 'others' }, null] },
    v1beta1: { resources: [{ name: 'things' }] },
    v1alpha1: { resources: 'things' },
  };
  const { client, server } = await createKubeScene(t, (call) => {
    const answer = served[call.path.split('/').at(-1) ?? ''];
    if (answer === undefined) call.status(404, 'not found');
    else call.json(answer);
  });
  t.equal(await findServedVersion(client, 'example.com', 'things', ['v2', 'v1', 'v1beta1', 'v1alpha1'], never), 'v1beta1');
  t.same(
    server.calls.map(({ path }) => path),
    ['/apis/example.com/v2', '/apis/example.com/v1', '/apis/example.com/v1beta1'],
  );
  t.equal(await findServedVersion(client, 'example.com', 'things', ['v1', 'v1alpha1'], never), undefined);
});

t.test('what is no answer is no version', async (t) => {
  const { client } = await createKubeScene(t, (call) => call.status(503, 'not now'));
  await t.rejects(findServedVersion(client, 'example.com', 'things', ['v1'], never), { name: 'SignetError', reason: 'kube-unavailable' });
});
