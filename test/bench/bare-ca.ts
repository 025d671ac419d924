// The reference for certificates per second: a grpc-js server over TLS that does for each call what no CA can leave out (read a
// public key, check a signature by it, make one) and answers stored bytes. Started by the bench with the file for its root; says its
// port by IPC.

import { createPublicKey, sign, verify } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import grpc from '@grpc/grpc-js';
import { istio } from '#proto/istio-ca.js';
import { createCertificateMethod } from '../../agent/istio-wire.js';
import { createServerCertificate, longLife } from '../fixtures/api-server.js';
import { createRoot, createTestKey, keyPem } from '../fixtures/pki.js';

const [rootsFile = ''] = process.argv.slice(2);
const root = createRoot(longLife);
const serving = createServerCertificate(root);
writeFileSync(rootsFile, root.pem);

const requester = createTestKey();
const toSign = Buffer.alloc(400, 1);
const signature = sign('sha256', toSign, requester.privateKey);
const answer = Buffer.from(
  istio.v1.auth.IstioCertificateResponse.encode({ certChain: [serving.pem.toString(), root.pem.toString()] }).finish(),
);

const server = new grpc.Server();
server.addService(
  {
    CreateCertificate: {
      ...createCertificateMethod,
      requestDeserialize: (bytes: Buffer) => bytes,
      responseSerialize: (bytes: Buffer) => bytes,
      responseDeserialize: (bytes: Buffer) => bytes,
      requestSerialize: (bytes: Buffer) => bytes,
    },
  },
  {
    CreateCertificate: (_call: grpc.ServerUnaryCall<Buffer, Buffer>, reply: grpc.sendUnaryData<Buffer>) => {
      const key = createPublicKey({ key: requester.publicKeySpki, format: 'der', type: 'spki' });
      if (!verify('sha256', toSign, key, signature)) throw new Error('bug: the stored signature is not valid');
      sign('sha256', toSign, requester.privateKey);
      reply(null, answer);
    },
  },
);
const credentials = grpc.ServerCredentials.createSsl(null, [{ cert_chain: serving.pem, private_key: keyPem(serving) }]);
server.bindAsync('127.0.0.1:0', credentials, (error, port) => {
  if (error !== null) throw error;
  process.send?.(port);
});
process.on('disconnect', () => process.exit(0));
