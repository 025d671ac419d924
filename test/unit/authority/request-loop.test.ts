import t from 'tap';
import { advanceUntil, settle, until } from '../../fixtures/clock.js';
import type { RequestScene } from '../../fixtures/request-scene.js';
import { createRequestScene, csrPath, podCertificatePath, requestSigner } from '../../fixtures/request-scene.js';

const isSigned = ({ status }: RequestScene, name: string): boolean => status(csrPath(name))['certificate'] !== undefined;
const reasonOf = ({ signers }: RequestScene) => [...signers.degradations.values()][0]?.value?.code;

t.test('what waited before the start, and what comes later', async (t) => {
  const scene = await createRequestScene(t);
  scene.addCsr('before');
  scene.run();
  await until(() => isSigned(scene, 'before'));
  scene.addCsr('after');
  await until(() => isSigned(scene, 'after'));
  t.equal(scene.store.writes.length, 4, 'one approval and one certificate each');
  t.equal(reasonOf(scene), undefined);
  const metrics = await scene.registry.getSingleMetric('signet_ca_requests_waiting')?.get();
  t.match(metrics?.values, [{ labels: { resource: 'certificatesigningrequests', signer: 'example.com/workload' } }]);
});

t.test('while pods are not known, or no line can be written, a request waits; it is no refusal', async (t) => {
  const scene = await createRequestScene(t);
  scene.staleMs = Infinity;
  scene.addCsr('one');
  scene.run();
  const [degradation] = scene.signers.degradations.values();
  const isTold = (words: string): boolean => degradation?.value?.detail?.includes(words) === true;
  await until(() => isTold('the pods of the cluster are not known now'));
  t.equal(reasonOf(scene), 'requests-unanswered');
  scene.staleMs = 0;
  scene.auditBroken = true;
  await advanceUntil(scene.clock, 500, () => isTold('the decision cannot be recorded'));
  t.equal(scene.log.lines.filter(({ message }) => message === 'cannot answer a request yet').length, 1, 'said once');
  t.same(scene.store.writes, []);
  scene.auditBroken = false;
  await advanceUntil(scene.clock, 500, () => isSigned(scene, 'one') && reasonOf(scene) === undefined);
  t.same(
    scene.audit.map(({ decision }) => decision),
    ['grant'],
  );
});

t.test('a write that fails is tried again later and later; one that others forestalled is looked at again', async (t) => {
  const scene = await createRequestScene(t);
  let status: number | undefined = 500;
  let refused = 0;
  scene.store.refuse = ({ method }) => {
    if (method === 'GET' || status === undefined) return undefined;
    refused += 1;
    return status;
  };
  scene.addCsr('one');
  scene.run();
  await advanceUntil(scene.clock, 100, () => refused === 3);
  const startedAt = scene.clock.monotonic();
  await advanceUntil(scene.clock, 100, () => refused === 6);
  t.ok(scene.clock.monotonic() - startedAt >= 3_000, 'at least half of 2, 4 and 8 s, but for the rounding of steps');
  status = 409;
  await advanceUntil(scene.clock, 1_000, () => refused === 7);
  status = undefined;
  await advanceUntil(scene.clock, 1_000, () => isSigned(scene, 'one'));
  t.pass('signed in the end');
});

t.test('a request that is gone, or answered, by the time it is read is left alone', async (t) => {
  const scene = await createRequestScene(t);
  scene.addCsr('gone');
  scene.addCsr('answered');
  scene.store.refuse = ({ method, path }) => {
    if (method === 'GET' && path === csrPath('gone')) return 404;
    if (method === 'GET' && path === csrPath('answered'))
      scene.store.put(path, { metadata: { name: 'answered' }, spec: {}, status: { certificate: 'AAAA' } });
    return undefined;
  };
  scene.run();
  await until(() => ['gone', 'answered'].every((name) => scene.server.calls.some(({ path }) => path === csrPath(name))));
  await settle(20);
  t.same(scene.store.writes, []);
  t.same(scene.audit, []);
});

t.test('of many at once so many are under way, and all get their answer', async (t) => {
  const scene = await createRequestScene(t);
  const held: (() => void)[] = [];
  let most = 0;
  const { handle } = scene.server;
  scene.server.handle = (call) => {
    if (call.path.endsWith('/certificatesigningrequests') || call.method !== 'GET') handle(call);
    else {
      held.push(() => handle(call));
      most = Math.max(most, held.length);
    }
  };
  const names = Array.from({ length: 40 }, (_, index) => `many-${index}`);
  for (const name of names) scene.addCsr(name);
  scene.run();
  await until(() => held.length === 16);
  await settle(20);
  t.equal(most, 16);
  await until(() => {
    for (const release of held.splice(0)) release();
    return names.every((name) => isSigned(scene, name));
  });
  t.equal(most, 16);
});

t.test('two replicas without a lease: one certificate, whoever writes it', async (t) => {
  const scene = await createRequestScene(t);
  const names = Array.from({ length: 8 }, (_, index) => `race-${index}`);
  for (const name of names) scene.addCsr(name);
  const certificates = new Map<string, Set<unknown>>();
  scene.run();
  scene.run();
  await advanceUntil(scene.clock, 500, () => {
    for (const name of names) {
      const certificate = scene.status(csrPath(name))['certificate'];
      if (certificate !== undefined) certificates.set(name, (certificates.get(name) ?? new Set()).add(certificate));
    }
    return certificates.size === names.length;
  });
  await settle(20);
  t.same(
    names.map((name) => new Set([...(certificates.get(name) ?? []), scene.status(csrPath(name))['certificate']]).size),
    names.map(() => 1),
  );
  t.equal(scene.store.writes.filter((write) => write.endsWith('/status')).length >= names.length, true);
});

t.test('it stops while the API server does not answer', async (t) => {
  const scene = await createRequestScene(t);
  scene.addCsr('one');
  const { handle } = scene.server;
  let asked = false;
  scene.server.handle = (call) => {
    if (call.path !== csrPath('one')) handle(call);
    else asked = true;
  };
  const stop = scene.run();
  await until(() => asked);
  const waiting = async () => (await scene.registry.getSingleMetric('signet_ca_requests_waiting')?.get())?.values[0]?.value;
  t.equal(await waiting(), 1);
  await stop();
  t.same(scene.audit, []);
  t.equal(await waiting(), 0, 'another replica counts them now');
});

t.test('an API group whose version is served no more is looked for again, and so is one that left', async (t) => {
  const path = '/apis/certificates.k8s.io';
  const discovery: Record<string, readonly string[]> = { [`${path}/v1beta1`]: ['podcertificaterequests'] };
  const scene = await createRequestScene(t, { csrSigner: undefined, podCertificateSigner: requestSigner, discovery });
  let served: string | undefined = 'v1beta1';
  scene.store.refuse = (call) =>
    call.path.includes('/podcertificaterequests') && !call.path.startsWith(`${path}/${served}/`) ? 404 : undefined;
  const serve = (version: string | undefined): void => {
    for (const key of Object.keys(discovery)) delete discovery[key];
    if (version !== undefined) discovery[`${path}/${version}`] = ['podcertificaterequests'];
    served = version;
    scene.store.cut();
  };
  const isAnswered = (name: string, version: string): boolean =>
    scene.status(podCertificatePath(name, version))['certificateChain'] !== undefined;
  scene.addPodCertificate('one', {}, 'v1beta1');
  scene.run();
  await until(() => isAnswered('one', 'v1beta1'));
  serve('v1');
  scene.addPodCertificate('two', {}, 'v1');
  await advanceUntil(scene.clock, 500, () => isAnswered('two', 'v1'));
  await until(() => reasonOf(scene) === undefined);
  serve(undefined);
  await advanceUntil(scene.clock, 500, () => reasonOf(scene) === 'request-unserved');
  const told = { reason: 'request-unserved', detail: 'podcertificaterequests', action: /switch on PodCertificateRequest/ };
  const line = scene.log.lines.find(({ fields }) => fields['reason'] === told.reason);
  t.match(line, { message: 'cannot follow requests yet', fields: told });
  scene.addPodCertificate('three', {}, 'v1');
  serve('v1');
  await advanceUntil(scene.clock, 500, () => isAnswered('three', 'v1'));
  await until(() => reasonOf(scene) === undefined);
});
