// The configuration as it is printed.

import t from 'tap';
import { configFields } from '../../../agent/config.js';
import { formatConfig } from '../../../agent/config/format.js';
import { evaluate, minimal } from '../../fixtures/config.js';

t.test('the effective configuration is a file that gives the same one, with origins', async (t) => {
  const env = { SIGNET_SDS_HOLD: '5s', SIGNET_FOO: '1' };
  const loaded = evaluate(`${minimal}certificate: {lifetime: 1h}\nsds: {socket: {mode: 0600}}\n`, { env });
  const printed = formatConfig(loaded);
  t.match(printed, '# file: /etc/signet/agent.yaml\n# warning: SIGNET_FOO in the environment is no setting');
  t.match(printed, '  lifetime: 1h # file line 6\n');
  t.match(printed, '  hold: 5s # SIGNET_SDS_HOLD\n');
  t.match(printed, '\n# default\npeers:\n');
  t.match(printed, '\n# file line 5\nupstreams:\n');
  t.match(printed, '  # file line 4\n  sources:\n');
  t.strictSame(evaluate(printed).config, loaded.config);
  t.match(
    formatConfig(
      evaluate(undefined, { defaults: 'dev', overrides: { 'pods.sources': { value: [{ kind: 'file', path: '/p' }], from: '--pods' } } }),
    ),
    /^# no file was read\n/,
  );
  t.match(configFields(loaded), { 'certificate.lifetime': '1h', 'peers': '[{"pod":{},"grant":"own"}]', 'certificate.concurrency': 8 });
});
