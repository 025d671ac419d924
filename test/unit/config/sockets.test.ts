import t from 'tap';
import { join } from 'node:path';
import { socketCandidates } from '../../../agent/config.js';

t.test('commands find the socket that is set, else look where dev and the agent have theirs', async (t) => {
  const uid = process.getuid?.() ?? 0;
  const directory = t.testdir({ 'agent.yaml': 'sds: {socket: {path: /srv/sds.sock}}\n' });
  t.strictSame(socketCandidates('sds.socket.path', { env: {} }), [`/tmp/signet-${uid}/sds/sds.sock`, '/run/signet/sds/sds.sock']);
  t.strictSame(socketCandidates('admin.socket.path', { env: { SIGNET_ADMIN_SOCKET_PATH: '/a.sock' } }), ['/a.sock']);
  t.strictSame(socketCandidates('sds.socket.path', { env: {}, file: join(directory, 'agent.yaml') }), ['/srv/sds.sock']);
});
