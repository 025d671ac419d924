// One kept-alive HTTPS agent for the material of an access. Used by kube/client.ts.
// Promises: the other end is verified before a byte is sent; of an agent that is replaced nothing stays open longer than the
// calls that are under way on it.

import { createHash } from 'node:crypto';
import { Agent } from 'node:https';
import type { AgentOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { connect } from 'node:tls';
import type { ConnectionOptions } from 'node:tls';
import { SignetError } from '../runtime/errors.js';
import type { Access, TlsMaterial } from './credentials.js';
import { sameConnection } from './credentials.js';
import type { Target } from './status.js';
import { reasonFor } from './status.js';

export interface Connections {
  /** The agent for this access; the same one while its material is the same. */
  agentFor(access: Access): Agent;
  /** The agent in use is not to be used again. */
  retire(): void;
}

/** Calls at once to one server; a watch is one for minutes, and each of certificate.concurrency requests may be watched. */
const maxSockets = 320;

/** A peer that is gone without a word is noticed by the kernel after about this and its probes. */
const probeAfterMs = 15_000;

export function createConnections(target: Target): Connections {
  let current: { readonly access: Access; readonly agent: Agent } | undefined;
  const retire = (): void => {
    if (current === undefined) return;
    const { agent } = current;
    current = undefined;
    // Sockets in use are closed instead of kept when their call ends.
    agent.maxFreeSockets = 0;
    for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
  };
  return {
    agentFor(access) {
      if (current === undefined || !sameConnection(current.access, access)) {
        retire();
        current = { access, agent: createAgent(target, access.tls) };
      }
      return current.agent;
    },
    retire,
  };
}

function createAgent(target: Target, tls: TlsMaterial): Agent {
  const { ca, cert, key, serverName, pin } = tls;
  const options: AgentOptions = {
    keepAlive: true,
    keepAliveMsecs: probeAfterMs,
    maxSockets,
    minVersion: 'TLSv1.2',
    // Whatever NODE_TLS_REJECT_UNAUTHORIZED says.
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(serverName === undefined ? {} : { servername: serverName }),
  };
  return pin === undefined ? new Agent(options) : createPinnedAgent(target, options, pin);
}

type OnConnected = (error: Error | null, socket?: Duplex) => void;

/** An agent that takes a server by its key, whatever its certificate says. HTTP gets the socket after the key was seen. */
function createPinnedAgent(target: Target, options: AgentOptions, pin: string): Agent {
  const agent = new Agent(options);
  const open = (to: ConnectionOptions, onConnected: OnConnected): undefined => {
    const socket = connect({ ...to, rejectUnauthorized: false });
    socket.once('error', onConnected);
    socket.once('secureConnect', () => {
      const shown = socket.getPeerX509Certificate()?.publicKey.export({ type: 'spki', format: 'der' });
      const found = shown === undefined ? '' : createHash('sha256').update(shown).digest('hex');
      socket.removeListener('error', onConnected);
      if (found === pin) {
        onConnected(null, socket);
        return;
      }
      socket.destroy();
      onConnected(
        new SignetError('unavailable', 'the server has another key than the pinned one', {
          reason: reasonFor(target, 'tls'),
          fields: { found },
        }),
      );
    });
  };
  return Object.assign(agent, { createConnection: open });
}
