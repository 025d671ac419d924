// The table of settings: how each is named in the environment and as a flag, and that it has an effect.

import fc from 'fast-check';
import t from 'tap';
import { listSettings } from '../../../agent/config/settings.js';
import { evaluate, minimal } from '../../fixtures/config.js';

t.test('names of variables and flags follow from the path and never look like service links', async (t) => {
  const named = listSettings();
  const of = (path: string): unknown[] => named.filter((entry) => entry.path === path).flatMap(({ variable, flag }) => [variable, flag]);
  t.strictSame(of('sds.limits.namesPerOwner'), ['SIGNET_SDS_LIMITS_NAMES_PER_OWNER', 'sds-limits-names-per-owner']);
  t.strictSame(of('peers'), [undefined, undefined], 'lists stand in the file only');
  const variables = named.flatMap(({ variable }) => variable ?? []);
  t.equal(new Set(variables).size, variables.length);
  t.notOk(variables.some((name) => /_PORT(_|$)|_SERVICE_HOST$/.test(name)));
});

t.test('every scalar setting is read from its variable and its flag', async (t) => {
  const values: Readonly<Record<string, string>> = {
    'identities.select.hostNetwork': 'exclude',
    'certificate.issue': 'on-demand',
    'certificate.keyType': 'rsa-3072',
    ...Object.fromEntries(['http', 'pods.kubelet', 'localCa'].map((above) => [`${above}.address`, '[::1]:80'])),
    'pods.kubelet.pin': 'b'.repeat(64),
    'localCa.whenApiServerAway': 'jwks',
    'localCa.auth': 'caller',
    'localCa.quickAck': 'false',
    'state.sealed': 'false',
    'log.level': 'debug',
  };
  const text = `${minimal}localCa: {auth: upstream}\n`;
  for (const { path, setting, variable, flag } of listSettings()) {
    if (variable === undefined || flag === undefined) continue;
    const value =
      values[path] ??
      (/from [0-9]+ to ([0-9]+)$/.exec(setting.allowed)?.[1] ||
        /^a (?:duration|size) from \S+ to (\S+)/.exec(setting.allowed)?.[1] ||
        (setting.allowed.startsWith('an absolute path') ? '/some/path' : setting.allowed === 'true or false' ? 'true' : '640'));
    const byVariable = evaluate(text, { env: { [variable]: value } });
    const byFlag = evaluate(text, { flags: { [flag]: value } });
    t.strictSame(byVariable.config, byFlag.config, path);
    t.notSame(byFlag.config, evaluate(text).config, `${path} has an effect`);
  }
});

t.test('durations within the bounds are read exactly', async () => {
  fc.assert(
    fc.property(fc.integer({ min: 10_000, max: 7_776_000_000 }), (ms) => {
      const { lifetimeMs } = evaluate(minimal, { flags: { 'certificate-lifetime': `${ms}ms` } }).config.certificate;
      return lifetimeMs === ms;
    }),
    { numRuns: 50 },
  );
});

t.test('addresses', async (t) => {
  const of = (text: string): unknown => evaluate(minimal, { flags: { 'http-address': text } }).config.http.address;
  t.strictSame(of('[fe80::1%eth0]:0'), { host: 'fe80::1%eth0', port: 0 });
  t.strictSame(of('[::]:65535'), { host: '::', port: 65_535 });
  t.strictSame(of('localhost:80'), { host: 'localhost', port: 80 });
});
