// The part of node-forge's ASN.1 module that Signet uses. The module is imported alone: the whole package would also load
// RSA, TLS and more, which nothing here calls.

declare module 'node-forge/lib/asn1.js' {
  export interface Asn1 {
    readonly tagClass: number;
    readonly type: number;
    readonly constructed: boolean;
    /** Content octets as a binary string, or the elements of a constructed encoding. */
    readonly value: string | Asn1[];
  }

  interface ByteBuffer {
    getBytes(): string;
  }

  interface ReadOptions {
    strict: boolean;
    parseAllBytes: boolean;
    decodeBitStrings: boolean;
    maxDepth: number;
  }

  const asn1: {
    create(tagClass: number, type: number, constructed: boolean, value: string | Asn1[]): Asn1;
    fromDer(bytes: string, options: ReadOptions): Asn1;
    toDer(node: Asn1): ByteBuffer;
    oidToDer(oid: string): ByteBuffer;
    derToOid(bytes: string): string;
  };
  export default asn1;
}
