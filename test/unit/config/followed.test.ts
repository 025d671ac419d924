// The followed settings over a real file: what applies at once, what is refused, what needs a restart.

import { strictEqual } from 'node:assert/strict';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { ConfigInput } from '../../../agent/config.js';
import { loadConfig } from '../../../agent/config.js';
import { createFollowedSettings } from '../../../agent/config/followed.js';
import { advanceUntil, createFakeClock, settle, until } from '../../fixtures/clock.js';
import { createRecordingLogger } from '../../fixtures/log.js';
import { createTestMetrics } from '../../fixtures/metrics.js';

const minimal = `
trustDomain: example.org
node: node-1
pods: {sources: [{kind: file, path: /etc/signet/pods.yaml}]}
upstreams: [{kind: built-in}]
`;

function start(t: Test, text: string = minimal) {
  const directory = t.testdir({ 'agent.yaml': text });
  const path = join(directory, 'agent.yaml');
  const input: ConfigInput = { defaults: 'agent', env: {}, file: path };
  const clock = createFakeClock();
  const log = createRecordingLogger();
  const { metrics, read } = createTestMetrics();
  const settings = createFollowedSettings({ loaded: loadConfig(input), input, clock, log, metrics });
  const stop = new AbortController();
  const running = settings.run(stop.signal);
  t.teardown(async () => {
    stop.abort();
    await running;
    strictEqual(clock.alarms, 0);
  });
  const write = (next: string): void => {
    writeFileSync(`${path}.new`, next);
    renameSync(`${path}.new`, path);
  };
  return { settings, clock, log, read, write, path };
}

t.test('peer rules and selection apply at once', async (t) => {
  const { settings, log, read, write } = start(t);
  t.strictSame(settings.peers.value, [{ pod: {}, grant: 'own' }]);
  write(`${minimal}peers: [{host: {uid: 7}, grant: node}]\nidentities: {select: {ambient: true}}\n`);
  await until(() => settings.select.value.ambient);
  t.strictSame(settings.peers.value, [{ host: { uid: 7 }, grant: 'node' }]);
  t.match(log.lines, [{ level: 'info', message: 'configuration changed', fields: { settings: ['peers', 'identities.select'] } }]);
  t.equal(log.lines.length, 1);
  t.equal(await read('signet_reloads_total', { file: 'config', result: 'ok' }), 1);
});

t.test('a faulty change keeps what was in effect, says so once, and is over when mended', async (t) => {
  const rules = `${minimal}peers: [{host: {uid: 7}, grant: node}]\n`;
  const { settings, log, read, write } = start(t, rules);
  write(`${minimal}peers: [{host: {}, grant: node}]\nidentities: {select: {ambient: true}}\n`);
  await until(() => settings.reason.value !== undefined);
  t.strictSame(settings.reason.value, { code: 'peer-rules-invalid', detail: 'peers[0].host (line 6) must name a unit or a uid' });
  t.strictSame(settings.peers.value, [{ host: { uid: 7 }, grant: 'node' }]);
  t.equal(settings.select.value.ambient, false, 'nothing of a faulty file applies');
  t.match(log.lines, [
    {
      level: 'error',
      message: 'changed configuration is not used',
      fields: { reason: 'peer-rules-invalid', faults: ['peers[0].host (line 6) must name a unit or a uid'] },
    },
  ]);
  t.equal(await read('signet_reloads_total', { file: 'config', result: 'invalid' }), 1);
  write(rules);
  await until(() => settings.reason.value === undefined);
  t.strictSame(settings.peers.value, [{ host: { uid: 7 }, grant: 'node' }]);
  t.equal(log.lines.length, 1);
});

t.test('a change of anything else is named once', async (t) => {
  const { settings, log, write } = start(t);
  write(`${minimal}log: {level: debug}\nsds: {hold: 1s}\n`);
  await until(() => log.lines.length === 1);
  t.match(log.lines, [{ level: 'warn', message: 'a changed setting needs a restart', fields: { settings: ['sds.hold', 'log.level'] } }]);
  write(`${minimal}log: {level: debug}\nsds: {hold: 1s}\npeers: []\n`);
  await until(() => settings.peers.value.length === 0);
  t.strictSame(
    log.lines.map(({ message }) => message),
    ['a changed setting needs a restart', 'configuration changed'],
  );
  t.equal(settings.reason.value, undefined);
});

t.test('a file that goes away is a fault, not an empty configuration', async (t) => {
  const { settings, clock, path } = start(t);
  await settle();
  rmSync(path);
  await advanceUntil(clock, 1_000, () => settings.reason.value !== undefined);
  t.match(settings.reason.value, { code: 'peer-rules-invalid', detail: 'file does not exist' });
  t.strictSame(settings.peers.value, [{ pod: {}, grant: 'own' }]);
});

t.test('without a file nothing is followed', async (t) => {
  const overrides = { 'pods.sources': { value: [{ kind: 'file', path: '/p' }], from: '--pods' } };
  const input: ConfigInput = { defaults: 'dev', env: {}, overrides };
  const { metrics } = createTestMetrics();
  const clock = createFakeClock();
  const log = createRecordingLogger();
  const settings = createFollowedSettings({ loaded: loadConfig(input), input, clock, log, metrics });
  const stop = new AbortController();
  const running = settings.run(stop.signal);
  stop.abort();
  await running;
  t.equal(settings.peers.value.length, 2);
  t.equal(clock.alarms, 0);
});
