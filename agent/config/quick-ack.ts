// The setting that both servers of Istio's certificate service have. Part of the tables of settings of the agent and of `signet ca`.

import { boolean } from './kinds.js';
import { setting } from './setting.js';

export const quickAck = () =>
  setting(
    boolean(),
    'Acknowledge the headers of a call at once (TCP_QUICKACK): a client with Nagle on, as ztunnel, sends its request only then, and otherwise waits 40 ms in each call.',
    true,
  );
