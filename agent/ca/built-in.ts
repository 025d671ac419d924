// The CA inside the process: signs requests of this node with the issuer that is current. For `dev` and single nodes.
// Called through CaClient by the certificate cache and the forwarder of CSRs; its answers pass the same checks as anybody's.

import { SignetError } from '../runtime/errors.js';
import type { Clock } from '../runtime/time.js';
import type { Watched } from '../runtime/watched.js';
import type { Certificate } from '../x509/certificate.js';
import { parseCsr } from '../x509/csr.js';
import type { Issuer } from '../x509/issuer.js';
import { checkValidity } from '../x509/issuer.js';
import { formatPem } from '../x509/pem.js';
import { backdated, emptyName, signCertificate } from '../x509/sign.js';
import type { CaClient, CaRequest } from './ca-client.js';
import { forwardUnserved } from './ca-client.js';

export interface BuiltInOptions {
  /** Read anew for each signature. */
  readonly issuer: Watched<Issuer>;
  /** The issuer's roots, and former ones while leaves signed under them live. */
  readonly roots: Watched<readonly Certificate[]>;
  readonly clock: Clock;
}

export function createBuiltIn(options: BuiltInOptions): CaClient {
  const { issuer: current, roots, clock } = options;
  // It looks at no token.
  const serves = ({ caller }: CaRequest): boolean => caller === undefined;
  return {
    name: 'built-in',
    subject: 'none',
    roots,
    serves,
    async request(request, accept, signal) {
      const { id, csr, lifetimeMs } = request;
      if (!serves(request)) throw forwardUnserved();
      if (signal.aborted) throw new SignetError('cancelled', 'certificate request was cancelled');
      const issuer = current.value;
      const now = clock.now();
      checkValidity(issuer, now);
      // Its signature was checked when it was made here, or by the local CA when it came.
      const { publicKeySpki, extensions } = parseCsr(csr);
      const { uris = [], otherForms = [] } = extensions.subjectAltName ?? {};
      if (uris.length !== 1 || uris[0] !== id.uri || otherForms.length > 0) {
        throw new SignetError('invalid', 'request asks for another name', {
          reason: 'ca-refused-request',
          fields: { id: id.uri, requested: uris },
        });
      }
      const leaf = await signCertificate(issuer, issuer.name, {
        profile: 'leaf',
        subject: emptyName,
        publicKeySpki,
        uri: id.uri,
        notBefore: backdated(now, lifetimeMs),
        notAfter: Math.min(now + lifetimeMs, issuer.notAfter),
      });
      const elements = [leaf, ...issuer.chain.map((each) => each.der)].map((each) => Buffer.from(formatPem('CERTIFICATE', each)));
      return accept({ elements, roots: roots.value, upstream: 'built-in' });
    },
  };
}
