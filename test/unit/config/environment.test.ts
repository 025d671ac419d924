import t from 'tap';
import { evaluateConfig } from '../../../agent/config.js';

const file = 'pods: {sources: [{kind: file, path: /etc/signet/pods.yaml}]}';

t.test('F151: variables that make libraries print tokens are warned of', (t) => {
  const warnings = (env: NodeJS.ProcessEnv): readonly string[] => evaluateConfig({ defaults: 'dev', env }, file, 'dev.yaml').warnings;
  for (const name of ['GRPC_TRACE', 'GRPC_NODE_TRACE', 'NODE_DEBUG', 'NODE_DEBUG_NATIVE'])
    t.same(warnings({ [name]: 'all' }), [`${name} in the environment makes libraries print what they send, tokens among it: unset it`]);
  t.same(warnings({ GRPC_TRACE: '', GRPC_VERBOSITY: 'ERROR' }), []);
  t.end();
});
