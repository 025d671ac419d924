// Pods of this node by list and watch; the faults of both are in kube/reflector.test.ts.

import t from 'tap';
import { createApiServerSource } from '../../../agent/pods/apiserver-source.js';
import type { ApiStream } from '../../fixtures/api-server.js';
import { apiList, apiPod } from '../../fixtures/api-server.js';
import { until } from '../../fixtures/clock.js';
import { createKubeScene } from '../../fixtures/kube.js';
import { start } from '../../fixtures/reasons.js';

t.test(
  'R108, F122, F153: every list and watch names the node; pods without an account are left out; a lost server freezes the view',
  async (t) => {
    const streams: ApiStream[] = [];
    const scene = await createKubeScene(t, (call) => {
      if (call.query['fieldSelector'] !== 'spec.nodeName=node-a') call.status(403, 'can only list pods with spec.nodeName field selector');
      else if (call.query['sendInitialEvents'] !== undefined) call.status(422, 'not served');
      else if (call.query['watch'] === undefined) call.json(apiList([apiPod('a'), apiPod('static', { account: null })]));
      else streams.push(call.stream());
    });
    const source = createApiServerSource({ node: 'node-a', ...scene });
    t.match(source.view.value, { complete: false, reason: { code: 'pods-unread' } });
    start(t, source);
    await until(() => streams.length === 1);
    t.same([...source.view.value.pods.keys()], ['uid-a']);
    t.equal(source.view.value.complete, true);
    t.ok(scene.server.calls.every(({ query }) => query['fieldSelector'] === 'spec.nodeName=node-a'));
    t.equal(await scene.read('signet_pod_source_up', { source: 'apiserver' }), 1);

    streams[0]?.event('ADDED', apiPod('b', { version: '101' }));
    await until(() => source.view.value.pods.size === 2);
    streams[0]?.cut();
    await until(() => source.view.value.reason?.code === 'kube-unavailable');
    t.same([source.view.value.complete, source.view.value.pods.size], [true, 2]);
    t.equal(await scene.read('signet_pod_source_up', { source: 'apiserver' }), 0);
    t.equal(await scene.read('signet_pod_source_errors_total', { source: 'apiserver' }), 1);
  },
);
