// What a configuration file may hold, and what its text means.

import fc from 'fast-check';
import t from 'tap';
import { evaluate, faultsOf, minimal } from '../../fixtures/config.js';

t.test('scalars are what was written, not what YAML would make of them', async (t) => {
  const text = `${minimal.replace('node-1', '1e3')}sds: {socket: {mode: 0640, takeover: true}}\n`;
  const { config } = evaluate(text);
  t.equal(config.node, '1e3');
  t.equal(config.sds.socket.mode, 0o640);
  t.equal(config.sds.socket.takeover, true);
});

t.test('JSON is YAML', async (t) => {
  const json = { trustDomain: 'a.b', node: 'n', pods: { sources: [{ kind: 'file', path: '/p' }] }, upstreams: [{ kind: 'built-in' }] };
  const { config } = evaluate(JSON.stringify({ ...json, certificate: { concurrency: 4 }, sds: { socket: { takeover: true } } }));
  t.equal(config.certificate.concurrency, 4);
  t.equal(config.sds.socket.takeover, true);
});

t.test('what is not YAML is told with its line, and nothing else is', async (t) => {
  t.match(faultsOf('node: n\npods: [\n'), [/^the file \(line 3\) is not valid YAML: /]);
  t.match(faultsOf('node: a\nnode: b\n'), ['the file (line 2) is not valid YAML: Map keys must be unique']);
  t.strictSame(faultsOf('node: a\n---\nnode: b\n'), ['the file (line 2) must hold a single YAML document']);
  t.strictSame(faultsOf('- a\n')[0], 'the file (line 1) must be a mapping of settings');
  t.match(faultsOf('node: *nowhere\n'), [/^the file .*is not valid YAML: .*nowhere/]);
  const bomb = ['a: &a x', ...[...'bcdefgh'].map((name, index) => `${name}: &${name} [${`*${'abcdefg'[index]},`.repeat(9)}]`)];
  t.match(faultsOf(bomb.join('\n')), [/not valid YAML: Excessive alias count/]);
});

t.test('a key without value, or null, is not set; an empty file is none', async (t) => {
  t.equal(evaluate(`${minimal}log:\n`).config.log.level, 'info');
  t.equal(evaluate(`${minimal}log: {level: null}\nsds:\n  socket:\n    path: ~\n`).config.sds.socket.path, '/run/signet/sds/sds.sock');
  t.equal(faultsOf('').length, 3);
  t.equal(faultsOf('# nothing\n').length, 3);
});

t.test('any text as file gives a configuration or faults, never anything else', async (t) => {
  fc.assert(
    fc.property(fc.string({ maxLength: 200 }), (text) => {
      faultsOf(text);
      faultsOf(`${minimal}${text}`);
    }),
    { numRuns: 100, interruptAfterTimeLimit: 3_000 },
  );
  t.pass();
});
