import * as $protobuf from "protobufjs/minimal.js";
import Long = require("long");

/** Namespace istio. */
export namespace istio {

    /** Namespace v1. */
    namespace v1 {

        /** Namespace auth. */
        namespace auth {

            /**
             * Properties of an IstioCertificateRequest.
             * @deprecated Use istio.v1.auth.IstioCertificateRequest.$Properties instead.
             */
            interface IIstioCertificateRequest extends istio.v1.auth.IstioCertificateRequest.$Properties {
            }

            /** Represents an IstioCertificateRequest. */
            class IstioCertificateRequest {

                /**
                 * Constructs a new IstioCertificateRequest.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: istio.v1.auth.IstioCertificateRequest.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** IstioCertificateRequest csr. */
                csr: string;

                /** IstioCertificateRequest validityDuration. */
                validityDuration: number;

                /** IstioCertificateRequest metadata. */
                metadata?: (google.protobuf.Struct.$Properties|null);

                /**
                 * Creates a new IstioCertificateRequest instance using the specified properties.
                 * @param [properties] Properties to set
                 * @returns IstioCertificateRequest instance
                 */
                static create(properties: istio.v1.auth.IstioCertificateRequest.$Shape): istio.v1.auth.IstioCertificateRequest & istio.v1.auth.IstioCertificateRequest.$Shape;
                static create(properties?: istio.v1.auth.IstioCertificateRequest.$Properties): istio.v1.auth.IstioCertificateRequest;

                /**
                 * Encodes the specified IstioCertificateRequest message. Does not implicitly {@link istio.v1.auth.IstioCertificateRequest.verify|verify} messages.
                 * @param message IstioCertificateRequest message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: istio.v1.auth.IstioCertificateRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes an IstioCertificateRequest message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {istio.v1.auth.IstioCertificateRequest & istio.v1.auth.IstioCertificateRequest.$Shape} IstioCertificateRequest
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): istio.v1.auth.IstioCertificateRequest & istio.v1.auth.IstioCertificateRequest.$Shape;

                /**
                 * Gets the type url for IstioCertificateRequest
                 * @param [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                 * @returns The type url
                 */
                static getTypeUrl(prefix?: string): string;
            }

            namespace IstioCertificateRequest {

                /** Properties of an IstioCertificateRequest. */
                interface $Properties {

                    /** IstioCertificateRequest csr */
                    csr?: (string|null);

                    /** IstioCertificateRequest validityDuration */
                    validityDuration?: (number|null);

                    /** IstioCertificateRequest metadata */
                    metadata?: (google.protobuf.Struct.$Properties|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of an IstioCertificateRequest. */
                type $Shape = {
                  csr?: string|null;
                  validityDuration?: number|null;
                  metadata?: google.protobuf.Struct.$Shape|null;
                  $unknowns?: Uint8Array[];
                };
            }

            /**
             * Properties of an IstioCertificateResponse.
             * @deprecated Use istio.v1.auth.IstioCertificateResponse.$Properties instead.
             */
            interface IIstioCertificateResponse extends istio.v1.auth.IstioCertificateResponse.$Properties {
            }

            /** Represents an IstioCertificateResponse. */
            class IstioCertificateResponse {

                /**
                 * Constructs a new IstioCertificateResponse.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: istio.v1.auth.IstioCertificateResponse.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** IstioCertificateResponse certChain. */
                certChain: string[];

                /**
                 * Creates a new IstioCertificateResponse instance using the specified properties.
                 * @param [properties] Properties to set
                 * @returns IstioCertificateResponse instance
                 */
                static create(properties: istio.v1.auth.IstioCertificateResponse.$Shape): istio.v1.auth.IstioCertificateResponse & istio.v1.auth.IstioCertificateResponse.$Shape;
                static create(properties?: istio.v1.auth.IstioCertificateResponse.$Properties): istio.v1.auth.IstioCertificateResponse;

                /**
                 * Encodes the specified IstioCertificateResponse message. Does not implicitly {@link istio.v1.auth.IstioCertificateResponse.verify|verify} messages.
                 * @param message IstioCertificateResponse message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: istio.v1.auth.IstioCertificateResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes an IstioCertificateResponse message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {istio.v1.auth.IstioCertificateResponse & istio.v1.auth.IstioCertificateResponse.$Shape} IstioCertificateResponse
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): istio.v1.auth.IstioCertificateResponse & istio.v1.auth.IstioCertificateResponse.$Shape;

                /**
                 * Gets the type url for IstioCertificateResponse
                 * @param [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                 * @returns The type url
                 */
                static getTypeUrl(prefix?: string): string;
            }

            namespace IstioCertificateResponse {

                /** Properties of an IstioCertificateResponse. */
                interface $Properties {

                    /** IstioCertificateResponse certChain */
                    certChain?: (string[]|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of an IstioCertificateResponse. */
                type $Shape = istio.v1.auth.IstioCertificateResponse.$Properties;
            }
        }
    }
}

/** Namespace google. */
export namespace google {

    /** Namespace protobuf. */
    namespace protobuf {

        /**
         * Properties of a Struct.
         * @deprecated Use google.protobuf.Struct.$Properties instead.
         */
        interface IStruct extends google.protobuf.Struct.$Properties {
        }

        /** Represents a Struct. */
        class Struct {

            /**
             * Constructs a new Struct.
             * @param [properties] Properties to set
             */
            constructor(properties?: google.protobuf.Struct.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** Struct fields. */
            fields: { [k: string]: google.protobuf.Value.$Properties };

            /**
             * Creates a new Struct instance using the specified properties.
             * @param [properties] Properties to set
             * @returns Struct instance
             */
            static create(properties: google.protobuf.Struct.$Shape): google.protobuf.Struct & google.protobuf.Struct.$Shape;
            static create(properties?: google.protobuf.Struct.$Properties): google.protobuf.Struct;

            /**
             * Encodes the specified Struct message. Does not implicitly {@link google.protobuf.Struct.verify|verify} messages.
             * @param message Struct message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: google.protobuf.Struct.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a Struct message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {google.protobuf.Struct & google.protobuf.Struct.$Shape} Struct
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): google.protobuf.Struct & google.protobuf.Struct.$Shape;

            /**
             * Gets the type url for Struct
             * @param [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
             * @returns The type url
             */
            static getTypeUrl(prefix?: string): string;
        }

        namespace Struct {

            /** Properties of a Struct. */
            interface $Properties {

                /** Struct fields */
                fields?: ({ [k: string]: google.protobuf.Value.$Properties }|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a Struct. */
            type $Shape = {
              fields?: { [k: string]: google.protobuf.Value.$Shape }|null;
              $unknowns?: Uint8Array[];
            };
        }

        /**
         * Properties of a Value.
         * @deprecated Use google.protobuf.Value.$Properties instead.
         */
        interface IValue extends google.protobuf.Value.$Properties {
        }

        /** Represents a Value. */
        class Value {

            /**
             * Constructs a new Value.
             * @param [properties] Properties to set
             */
            constructor(properties?: google.protobuf.Value.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** Value nullValue. */
            nullValue?: (google.protobuf.NullValue|null);

            /** Value numberValue. */
            numberValue?: (number|null);

            /** Value stringValue. */
            stringValue?: (string|null);

            /** Value boolValue. */
            boolValue?: (boolean|null);

            /** Value structValue. */
            structValue?: (google.protobuf.Struct.$Properties|null);

            /** Value listValue. */
            listValue?: (google.protobuf.ListValue.$Properties|null);

            /** Value kind. */
            kind?: ("nullValue"|"numberValue"|"stringValue"|"boolValue"|"structValue"|"listValue");

            /**
             * Creates a new Value instance using the specified properties.
             * @param [properties] Properties to set
             * @returns Value instance
             */
            static create(properties: google.protobuf.Value.$Shape): google.protobuf.Value & google.protobuf.Value.$Shape;
            static create(properties?: google.protobuf.Value.$Properties): google.protobuf.Value;

            /**
             * Encodes the specified Value message. Does not implicitly {@link google.protobuf.Value.verify|verify} messages.
             * @param message Value message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: google.protobuf.Value.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a Value message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {google.protobuf.Value & google.protobuf.Value.$Shape} Value
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): google.protobuf.Value & google.protobuf.Value.$Shape;

            /**
             * Gets the type url for Value
             * @param [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
             * @returns The type url
             */
            static getTypeUrl(prefix?: string): string;
        }

        namespace Value {

            /** Properties of a Value. */
            interface $Properties {

                /** Value nullValue */
                nullValue?: (google.protobuf.NullValue|null);

                /** Value numberValue */
                numberValue?: (number|null);

                /** Value stringValue */
                stringValue?: (string|null);

                /** Value boolValue */
                boolValue?: (boolean|null);

                /** Value structValue */
                structValue?: (google.protobuf.Struct.$Properties|null);

                /** Value listValue */
                listValue?: (google.protobuf.ListValue.$Properties|null);

                /** Value kind */
                kind?: ("nullValue"|"numberValue"|"stringValue"|"boolValue"|"structValue"|"listValue");

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Narrowed shape of a Value. */
            type $Shape = {
              nullValue?: google.protobuf.NullValue|null;
              numberValue?: number|null;
              stringValue?: string|null;
              boolValue?: boolean|null;
              structValue?: google.protobuf.Struct.$Shape|null;
              listValue?: google.protobuf.ListValue.$Shape|null;
              $unknowns?: Uint8Array[];
            } & (
              ({ kind?: undefined; nullValue?: null; numberValue?: null; stringValue?: null; boolValue?: null; structValue?: null; listValue?: null }|{ kind?: "nullValue"; nullValue: google.protobuf.NullValue; numberValue?: null; stringValue?: null; boolValue?: null; structValue?: null; listValue?: null }|{ kind?: "numberValue"; nullValue?: null; numberValue: number; stringValue?: null; boolValue?: null; structValue?: null; listValue?: null }|{ kind?: "stringValue"; nullValue?: null; numberValue?: null; stringValue: string; boolValue?: null; structValue?: null; listValue?: null }|{ kind?: "boolValue"; nullValue?: null; numberValue?: null; stringValue?: null; boolValue: boolean; structValue?: null; listValue?: null }|{ kind?: "structValue"; nullValue?: null; numberValue?: null; stringValue?: null; boolValue?: null; structValue: google.protobuf.Struct.$Shape; listValue?: null }|{ kind?: "listValue"; nullValue?: null; numberValue?: null; stringValue?: null; boolValue?: null; structValue?: null; listValue: google.protobuf.ListValue.$Shape })
            );
        }

        /** NullValue enum. */
        enum NullValue {

            /** NULL_VALUE value */
            NULL_VALUE = 0
        }

        /**
         * Properties of a ListValue.
         * @deprecated Use google.protobuf.ListValue.$Properties instead.
         */
        interface IListValue extends google.protobuf.ListValue.$Properties {
        }

        /** Represents a ListValue. */
        class ListValue {

            /**
             * Constructs a new ListValue.
             * @param [properties] Properties to set
             */
            constructor(properties?: google.protobuf.ListValue.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** ListValue values. */
            values: google.protobuf.Value.$Properties[];

            /**
             * Creates a new ListValue instance using the specified properties.
             * @param [properties] Properties to set
             * @returns ListValue instance
             */
            static create(properties: google.protobuf.ListValue.$Shape): google.protobuf.ListValue & google.protobuf.ListValue.$Shape;
            static create(properties?: google.protobuf.ListValue.$Properties): google.protobuf.ListValue;

            /**
             * Encodes the specified ListValue message. Does not implicitly {@link google.protobuf.ListValue.verify|verify} messages.
             * @param message ListValue message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: google.protobuf.ListValue.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a ListValue message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {google.protobuf.ListValue & google.protobuf.ListValue.$Shape} ListValue
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): google.protobuf.ListValue & google.protobuf.ListValue.$Shape;

            /**
             * Gets the type url for ListValue
             * @param [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
             * @returns The type url
             */
            static getTypeUrl(prefix?: string): string;
        }

        namespace ListValue {

            /** Properties of a ListValue. */
            interface $Properties {

                /** ListValue values */
                values?: (google.protobuf.Value.$Properties[]|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a ListValue. */
            type $Shape = {
              values?: google.protobuf.Value.$Shape[]|null;
              $unknowns?: Uint8Array[];
            };
        }
    }
}
