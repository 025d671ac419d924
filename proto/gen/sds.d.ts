import * as $protobuf from "protobufjs/minimal.js";
import Long = require("long");

/** Namespace envoy. */
export namespace envoy {

    /** Namespace service. */
    namespace service {

        /** Namespace secret. */
        namespace secret {
        }

        /** Namespace discovery. */
        namespace discovery {

            /** Namespace v3. */
            namespace v3 {

                /**
                 * Properties of a DiscoveryRequest.
                 * @deprecated Use envoy.service.discovery.v3.DiscoveryRequest.$Properties instead.
                 */
                interface IDiscoveryRequest extends envoy.service.discovery.v3.DiscoveryRequest.$Properties {
                }

                /** Represents a DiscoveryRequest. */
                class DiscoveryRequest {

                    /**
                     * Constructs a new DiscoveryRequest.
                     * @param [properties] Properties to set
                     */
                    constructor(properties?: envoy.service.discovery.v3.DiscoveryRequest.$Properties);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];

                    /** DiscoveryRequest versionInfo. */
                    versionInfo: string;

                    /** DiscoveryRequest node. */
                    node?: (envoy.config.core.v3.Node.$Properties|null);

                    /** DiscoveryRequest resourceNames. */
                    resourceNames: string[];

                    /** DiscoveryRequest typeUrl. */
                    typeUrl: string;

                    /** DiscoveryRequest responseNonce. */
                    responseNonce: string;

                    /** DiscoveryRequest errorDetail. */
                    errorDetail?: (google.rpc.Status.$Properties|null);

                    /**
                     * Creates a new DiscoveryRequest instance using the specified properties.
                     * @param [properties] Properties to set
                     * @returns DiscoveryRequest instance
                     */
                    static create(properties: envoy.service.discovery.v3.DiscoveryRequest.$Shape): envoy.service.discovery.v3.DiscoveryRequest & envoy.service.discovery.v3.DiscoveryRequest.$Shape;
                    static create(properties?: envoy.service.discovery.v3.DiscoveryRequest.$Properties): envoy.service.discovery.v3.DiscoveryRequest;

                    /**
                     * Encodes the specified DiscoveryRequest message. Does not implicitly {@link envoy.service.discovery.v3.DiscoveryRequest.verify|verify} messages.
                     * @param message DiscoveryRequest message or plain object to encode
                     * @param [writer] Writer to encode to
                     * @returns Writer
                     */
                    static encode(message: envoy.service.discovery.v3.DiscoveryRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                    /**
                     * Decodes a DiscoveryRequest message from the specified reader or buffer.
                     * @param reader Reader or buffer to decode from
                     * @param [length] Message length if known beforehand
                     * @returns {envoy.service.discovery.v3.DiscoveryRequest & envoy.service.discovery.v3.DiscoveryRequest.$Shape} DiscoveryRequest
                     * @throws {Error} If the payload is not a reader or valid buffer
                     * @throws {$protobuf.util.ProtocolError} If required fields are missing
                     */
                    static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): envoy.service.discovery.v3.DiscoveryRequest & envoy.service.discovery.v3.DiscoveryRequest.$Shape;

                    /**
                     * Gets the type url for DiscoveryRequest
                     * @param [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                     * @returns The type url
                     */
                    static getTypeUrl(prefix?: string): string;
                }

                namespace DiscoveryRequest {

                    /** Properties of a DiscoveryRequest. */
                    interface $Properties {

                        /** DiscoveryRequest versionInfo */
                        versionInfo?: (string|null);

                        /** DiscoveryRequest node */
                        node?: (envoy.config.core.v3.Node.$Properties|null);

                        /** DiscoveryRequest resourceNames */
                        resourceNames?: (string[]|null);

                        /** DiscoveryRequest typeUrl */
                        typeUrl?: (string|null);

                        /** DiscoveryRequest responseNonce */
                        responseNonce?: (string|null);

                        /** DiscoveryRequest errorDetail */
                        errorDetail?: (google.rpc.Status.$Properties|null);

                        /** Unknown fields preserved while decoding when enabled */
                        $unknowns?: Uint8Array[];
                    }

                    /** Shape of a DiscoveryRequest. */
                    type $Shape = envoy.service.discovery.v3.DiscoveryRequest.$Properties;
                }

                /**
                 * Properties of a DiscoveryResponse.
                 * @deprecated Use envoy.service.discovery.v3.DiscoveryResponse.$Properties instead.
                 */
                interface IDiscoveryResponse extends envoy.service.discovery.v3.DiscoveryResponse.$Properties {
                }

                /** Represents a DiscoveryResponse. */
                class DiscoveryResponse {

                    /**
                     * Constructs a new DiscoveryResponse.
                     * @param [properties] Properties to set
                     */
                    constructor(properties?: envoy.service.discovery.v3.DiscoveryResponse.$Properties);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];

                    /** DiscoveryResponse versionInfo. */
                    versionInfo: string;

                    /** DiscoveryResponse resources. */
                    resources: google.protobuf.Any.$Properties[];

                    /** DiscoveryResponse typeUrl. */
                    typeUrl: string;

                    /** DiscoveryResponse nonce. */
                    nonce: string;

                    /**
                     * Creates a new DiscoveryResponse instance using the specified properties.
                     * @param [properties] Properties to set
                     * @returns DiscoveryResponse instance
                     */
                    static create(properties: envoy.service.discovery.v3.DiscoveryResponse.$Shape): envoy.service.discovery.v3.DiscoveryResponse & envoy.service.discovery.v3.DiscoveryResponse.$Shape;
                    static create(properties?: envoy.service.discovery.v3.DiscoveryResponse.$Properties): envoy.service.discovery.v3.DiscoveryResponse;

                    /**
                     * Encodes the specified DiscoveryResponse message. Does not implicitly {@link envoy.service.discovery.v3.DiscoveryResponse.verify|verify} messages.
                     * @param message DiscoveryResponse message or plain object to encode
                     * @param [writer] Writer to encode to
                     * @returns Writer
                     */
                    static encode(message: envoy.service.discovery.v3.DiscoveryResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                    /**
                     * Decodes a DiscoveryResponse message from the specified reader or buffer.
                     * @param reader Reader or buffer to decode from
                     * @param [length] Message length if known beforehand
                     * @returns {envoy.service.discovery.v3.DiscoveryResponse & envoy.service.discovery.v3.DiscoveryResponse.$Shape} DiscoveryResponse
                     * @throws {Error} If the payload is not a reader or valid buffer
                     * @throws {$protobuf.util.ProtocolError} If required fields are missing
                     */
                    static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): envoy.service.discovery.v3.DiscoveryResponse & envoy.service.discovery.v3.DiscoveryResponse.$Shape;

                    /**
                     * Gets the type url for DiscoveryResponse
                     * @param [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                     * @returns The type url
                     */
                    static getTypeUrl(prefix?: string): string;
                }

                namespace DiscoveryResponse {

                    /** Properties of a DiscoveryResponse. */
                    interface $Properties {

                        /** DiscoveryResponse versionInfo */
                        versionInfo?: (string|null);

                        /** DiscoveryResponse resources */
                        resources?: (google.protobuf.Any.$Properties[]|null);

                        /** DiscoveryResponse typeUrl */
                        typeUrl?: (string|null);

                        /** DiscoveryResponse nonce */
                        nonce?: (string|null);

                        /** Unknown fields preserved while decoding when enabled */
                        $unknowns?: Uint8Array[];
                    }

                    /** Shape of a DiscoveryResponse. */
                    type $Shape = envoy.service.discovery.v3.DiscoveryResponse.$Properties;
                }

                /**
                 * Properties of a DeltaDiscoveryRequest.
                 * @deprecated Use envoy.service.discovery.v3.DeltaDiscoveryRequest.$Properties instead.
                 */
                interface IDeltaDiscoveryRequest extends envoy.service.discovery.v3.DeltaDiscoveryRequest.$Properties {
                }

                /** Represents a DeltaDiscoveryRequest. */
                class DeltaDiscoveryRequest {

                    /**
                     * Constructs a new DeltaDiscoveryRequest.
                     * @param [properties] Properties to set
                     */
                    constructor(properties?: envoy.service.discovery.v3.DeltaDiscoveryRequest.$Properties);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];

                    /** DeltaDiscoveryRequest node. */
                    node?: (envoy.config.core.v3.Node.$Properties|null);

                    /** DeltaDiscoveryRequest typeUrl. */
                    typeUrl: string;

                    /** DeltaDiscoveryRequest resourceNamesSubscribe. */
                    resourceNamesSubscribe: string[];

                    /** DeltaDiscoveryRequest resourceNamesUnsubscribe. */
                    resourceNamesUnsubscribe: string[];

                    /** DeltaDiscoveryRequest initialResourceVersions. */
                    initialResourceVersions: { [k: string]: string };

                    /** DeltaDiscoveryRequest responseNonce. */
                    responseNonce: string;

                    /** DeltaDiscoveryRequest errorDetail. */
                    errorDetail?: (google.rpc.Status.$Properties|null);

                    /**
                     * Creates a new DeltaDiscoveryRequest instance using the specified properties.
                     * @param [properties] Properties to set
                     * @returns DeltaDiscoveryRequest instance
                     */
                    static create(properties: envoy.service.discovery.v3.DeltaDiscoveryRequest.$Shape): envoy.service.discovery.v3.DeltaDiscoveryRequest & envoy.service.discovery.v3.DeltaDiscoveryRequest.$Shape;
                    static create(properties?: envoy.service.discovery.v3.DeltaDiscoveryRequest.$Properties): envoy.service.discovery.v3.DeltaDiscoveryRequest;

                    /**
                     * Encodes the specified DeltaDiscoveryRequest message. Does not implicitly {@link envoy.service.discovery.v3.DeltaDiscoveryRequest.verify|verify} messages.
                     * @param message DeltaDiscoveryRequest message or plain object to encode
                     * @param [writer] Writer to encode to
                     * @returns Writer
                     */
                    static encode(message: envoy.service.discovery.v3.DeltaDiscoveryRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                    /**
                     * Decodes a DeltaDiscoveryRequest message from the specified reader or buffer.
                     * @param reader Reader or buffer to decode from
                     * @param [length] Message length if known beforehand
                     * @returns {envoy.service.discovery.v3.DeltaDiscoveryRequest & envoy.service.discovery.v3.DeltaDiscoveryRequest.$Shape} DeltaDiscoveryRequest
                     * @throws {Error} If the payload is not a reader or valid buffer
                     * @throws {$protobuf.util.ProtocolError} If required fields are missing
                     */
                    static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): envoy.service.discovery.v3.DeltaDiscoveryRequest & envoy.service.discovery.v3.DeltaDiscoveryRequest.$Shape;

                    /**
                     * Gets the type url for DeltaDiscoveryRequest
                     * @param [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                     * @returns The type url
                     */
                    static getTypeUrl(prefix?: string): string;
                }

                namespace DeltaDiscoveryRequest {

                    /** Properties of a DeltaDiscoveryRequest. */
                    interface $Properties {

                        /** DeltaDiscoveryRequest node */
                        node?: (envoy.config.core.v3.Node.$Properties|null);

                        /** DeltaDiscoveryRequest typeUrl */
                        typeUrl?: (string|null);

                        /** DeltaDiscoveryRequest resourceNamesSubscribe */
                        resourceNamesSubscribe?: (string[]|null);

                        /** DeltaDiscoveryRequest resourceNamesUnsubscribe */
                        resourceNamesUnsubscribe?: (string[]|null);

                        /** DeltaDiscoveryRequest initialResourceVersions */
                        initialResourceVersions?: ({ [k: string]: string }|null);

                        /** DeltaDiscoveryRequest responseNonce */
                        responseNonce?: (string|null);

                        /** DeltaDiscoveryRequest errorDetail */
                        errorDetail?: (google.rpc.Status.$Properties|null);

                        /** Unknown fields preserved while decoding when enabled */
                        $unknowns?: Uint8Array[];
                    }

                    /** Shape of a DeltaDiscoveryRequest. */
                    type $Shape = envoy.service.discovery.v3.DeltaDiscoveryRequest.$Properties;
                }

                /**
                 * Properties of a DeltaDiscoveryResponse.
                 * @deprecated Use envoy.service.discovery.v3.DeltaDiscoveryResponse.$Properties instead.
                 */
                interface IDeltaDiscoveryResponse extends envoy.service.discovery.v3.DeltaDiscoveryResponse.$Properties {
                }

                /** Represents a DeltaDiscoveryResponse. */
                class DeltaDiscoveryResponse {

                    /**
                     * Constructs a new DeltaDiscoveryResponse.
                     * @param [properties] Properties to set
                     */
                    constructor(properties?: envoy.service.discovery.v3.DeltaDiscoveryResponse.$Properties);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];

                    /** DeltaDiscoveryResponse systemVersionInfo. */
                    systemVersionInfo: string;

                    /** DeltaDiscoveryResponse resources. */
                    resources: envoy.service.discovery.v3.Resource.$Properties[];

                    /** DeltaDiscoveryResponse typeUrl. */
                    typeUrl: string;

                    /** DeltaDiscoveryResponse nonce. */
                    nonce: string;

                    /** DeltaDiscoveryResponse removedResources. */
                    removedResources: string[];

                    /**
                     * Creates a new DeltaDiscoveryResponse instance using the specified properties.
                     * @param [properties] Properties to set
                     * @returns DeltaDiscoveryResponse instance
                     */
                    static create(properties: envoy.service.discovery.v3.DeltaDiscoveryResponse.$Shape): envoy.service.discovery.v3.DeltaDiscoveryResponse & envoy.service.discovery.v3.DeltaDiscoveryResponse.$Shape;
                    static create(properties?: envoy.service.discovery.v3.DeltaDiscoveryResponse.$Properties): envoy.service.discovery.v3.DeltaDiscoveryResponse;

                    /**
                     * Encodes the specified DeltaDiscoveryResponse message. Does not implicitly {@link envoy.service.discovery.v3.DeltaDiscoveryResponse.verify|verify} messages.
                     * @param message DeltaDiscoveryResponse message or plain object to encode
                     * @param [writer] Writer to encode to
                     * @returns Writer
                     */
                    static encode(message: envoy.service.discovery.v3.DeltaDiscoveryResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                    /**
                     * Decodes a DeltaDiscoveryResponse message from the specified reader or buffer.
                     * @param reader Reader or buffer to decode from
                     * @param [length] Message length if known beforehand
                     * @returns {envoy.service.discovery.v3.DeltaDiscoveryResponse & envoy.service.discovery.v3.DeltaDiscoveryResponse.$Shape} DeltaDiscoveryResponse
                     * @throws {Error} If the payload is not a reader or valid buffer
                     * @throws {$protobuf.util.ProtocolError} If required fields are missing
                     */
                    static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): envoy.service.discovery.v3.DeltaDiscoveryResponse & envoy.service.discovery.v3.DeltaDiscoveryResponse.$Shape;

                    /**
                     * Gets the type url for DeltaDiscoveryResponse
                     * @param [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                     * @returns The type url
                     */
                    static getTypeUrl(prefix?: string): string;
                }

                namespace DeltaDiscoveryResponse {

                    /** Properties of a DeltaDiscoveryResponse. */
                    interface $Properties {

                        /** DeltaDiscoveryResponse systemVersionInfo */
                        systemVersionInfo?: (string|null);

                        /** DeltaDiscoveryResponse resources */
                        resources?: (envoy.service.discovery.v3.Resource.$Properties[]|null);

                        /** DeltaDiscoveryResponse typeUrl */
                        typeUrl?: (string|null);

                        /** DeltaDiscoveryResponse nonce */
                        nonce?: (string|null);

                        /** DeltaDiscoveryResponse removedResources */
                        removedResources?: (string[]|null);

                        /** Unknown fields preserved while decoding when enabled */
                        $unknowns?: Uint8Array[];
                    }

                    /** Shape of a DeltaDiscoveryResponse. */
                    type $Shape = envoy.service.discovery.v3.DeltaDiscoveryResponse.$Properties;
                }

                /**
                 * Properties of a Resource.
                 * @deprecated Use envoy.service.discovery.v3.Resource.$Properties instead.
                 */
                interface IResource extends envoy.service.discovery.v3.Resource.$Properties {
                }

                /** Represents a Resource. */
                class Resource {

                    /**
                     * Constructs a new Resource.
                     * @param [properties] Properties to set
                     */
                    constructor(properties?: envoy.service.discovery.v3.Resource.$Properties);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];

                    /** Resource version. */
                    version: string;

                    /** Resource resource. */
                    resource?: (google.protobuf.Any.$Properties|null);

                    /** Resource name. */
                    name: string;

                    /**
                     * Creates a new Resource instance using the specified properties.
                     * @param [properties] Properties to set
                     * @returns Resource instance
                     */
                    static create(properties: envoy.service.discovery.v3.Resource.$Shape): envoy.service.discovery.v3.Resource & envoy.service.discovery.v3.Resource.$Shape;
                    static create(properties?: envoy.service.discovery.v3.Resource.$Properties): envoy.service.discovery.v3.Resource;

                    /**
                     * Encodes the specified Resource message. Does not implicitly {@link envoy.service.discovery.v3.Resource.verify|verify} messages.
                     * @param message Resource message or plain object to encode
                     * @param [writer] Writer to encode to
                     * @returns Writer
                     */
                    static encode(message: envoy.service.discovery.v3.Resource.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                    /**
                     * Decodes a Resource message from the specified reader or buffer.
                     * @param reader Reader or buffer to decode from
                     * @param [length] Message length if known beforehand
                     * @returns {envoy.service.discovery.v3.Resource & envoy.service.discovery.v3.Resource.$Shape} Resource
                     * @throws {Error} If the payload is not a reader or valid buffer
                     * @throws {$protobuf.util.ProtocolError} If required fields are missing
                     */
                    static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): envoy.service.discovery.v3.Resource & envoy.service.discovery.v3.Resource.$Shape;

                    /**
                     * Gets the type url for Resource
                     * @param [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                     * @returns The type url
                     */
                    static getTypeUrl(prefix?: string): string;
                }

                namespace Resource {

                    /** Properties of a Resource. */
                    interface $Properties {

                        /** Resource version */
                        version?: (string|null);

                        /** Resource resource */
                        resource?: (google.protobuf.Any.$Properties|null);

                        /** Resource name */
                        name?: (string|null);

                        /** Unknown fields preserved while decoding when enabled */
                        $unknowns?: Uint8Array[];
                    }

                    /** Shape of a Resource. */
                    type $Shape = envoy.service.discovery.v3.Resource.$Properties;
                }
            }
        }
    }

    /** Namespace extensions. */
    namespace extensions {

        /** Namespace transport_sockets. */
        namespace transport_sockets {

            /** Namespace tls. */
            namespace tls {

                /** Namespace v3. */
                namespace v3 {

                    /**
                     * Properties of a Secret.
                     * @deprecated Use envoy.extensions.transport_sockets.tls.v3.Secret.$Properties instead.
                     */
                    interface ISecret extends envoy.extensions.transport_sockets.tls.v3.Secret.$Properties {
                    }

                    /** Represents a Secret. */
                    class Secret {

                        /**
                         * Constructs a new Secret.
                         * @param [properties] Properties to set
                         */
                        constructor(properties?: envoy.extensions.transport_sockets.tls.v3.Secret.$Properties);

                        /** Unknown fields preserved while decoding when enabled */
                        $unknowns?: Uint8Array[];

                        /** Secret name. */
                        name: string;

                        /** Secret tlsCertificate. */
                        tlsCertificate?: (envoy.extensions.transport_sockets.tls.v3.TlsCertificate.$Properties|null);

                        /** Secret validationContext. */
                        validationContext?: (envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.$Properties|null);

                        /** Secret type. */
                        type?: ("tlsCertificate"|"validationContext");

                        /**
                         * Creates a new Secret instance using the specified properties.
                         * @param [properties] Properties to set
                         * @returns Secret instance
                         */
                        static create(properties: envoy.extensions.transport_sockets.tls.v3.Secret.$Shape): envoy.extensions.transport_sockets.tls.v3.Secret & envoy.extensions.transport_sockets.tls.v3.Secret.$Shape;
                        static create(properties?: envoy.extensions.transport_sockets.tls.v3.Secret.$Properties): envoy.extensions.transport_sockets.tls.v3.Secret;

                        /**
                         * Encodes the specified Secret message. Does not implicitly {@link envoy.extensions.transport_sockets.tls.v3.Secret.verify|verify} messages.
                         * @param message Secret message or plain object to encode
                         * @param [writer] Writer to encode to
                         * @returns Writer
                         */
                        static encode(message: envoy.extensions.transport_sockets.tls.v3.Secret.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                        /**
                         * Decodes a Secret message from the specified reader or buffer.
                         * @param reader Reader or buffer to decode from
                         * @param [length] Message length if known beforehand
                         * @returns {envoy.extensions.transport_sockets.tls.v3.Secret & envoy.extensions.transport_sockets.tls.v3.Secret.$Shape} Secret
                         * @throws {Error} If the payload is not a reader or valid buffer
                         * @throws {$protobuf.util.ProtocolError} If required fields are missing
                         */
                        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): envoy.extensions.transport_sockets.tls.v3.Secret & envoy.extensions.transport_sockets.tls.v3.Secret.$Shape;

                        /**
                         * Gets the type url for Secret
                         * @param [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                         * @returns The type url
                         */
                        static getTypeUrl(prefix?: string): string;
                    }

                    namespace Secret {

                        /** Properties of a Secret. */
                        interface $Properties {

                            /** Secret name */
                            name?: (string|null);

                            /** Secret tlsCertificate */
                            tlsCertificate?: (envoy.extensions.transport_sockets.tls.v3.TlsCertificate.$Properties|null);

                            /** Secret validationContext */
                            validationContext?: (envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.$Properties|null);

                            /** Secret type */
                            type?: ("tlsCertificate"|"validationContext");

                            /** Unknown fields preserved while decoding when enabled */
                            $unknowns?: Uint8Array[];
                        }

                        /** Narrowed shape of a Secret. */
                        type $Shape = {
                          name?: string|null;
                          tlsCertificate?: envoy.extensions.transport_sockets.tls.v3.TlsCertificate.$Shape|null;
                          validationContext?: envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.$Shape|null;
                          $unknowns?: Uint8Array[];
                        } & (
                          ({ type?: undefined; tlsCertificate?: null; validationContext?: null }|{ type?: "tlsCertificate"; tlsCertificate: envoy.extensions.transport_sockets.tls.v3.TlsCertificate.$Shape; validationContext?: null }|{ type?: "validationContext"; tlsCertificate?: null; validationContext: envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.$Shape })
                        );
                    }

                    /**
                     * Properties of a TlsCertificate.
                     * @deprecated Use envoy.extensions.transport_sockets.tls.v3.TlsCertificate.$Properties instead.
                     */
                    interface ITlsCertificate extends envoy.extensions.transport_sockets.tls.v3.TlsCertificate.$Properties {
                    }

                    /** Represents a TlsCertificate. */
                    class TlsCertificate {

                        /**
                         * Constructs a new TlsCertificate.
                         * @param [properties] Properties to set
                         */
                        constructor(properties?: envoy.extensions.transport_sockets.tls.v3.TlsCertificate.$Properties);

                        /** Unknown fields preserved while decoding when enabled */
                        $unknowns?: Uint8Array[];

                        /** TlsCertificate certificateChain. */
                        certificateChain?: (envoy.config.core.v3.DataSource.$Properties|null);

                        /** TlsCertificate privateKey. */
                        privateKey?: (envoy.config.core.v3.DataSource.$Properties|null);

                        /**
                         * Creates a new TlsCertificate instance using the specified properties.
                         * @param [properties] Properties to set
                         * @returns TlsCertificate instance
                         */
                        static create(properties: envoy.extensions.transport_sockets.tls.v3.TlsCertificate.$Shape): envoy.extensions.transport_sockets.tls.v3.TlsCertificate & envoy.extensions.transport_sockets.tls.v3.TlsCertificate.$Shape;
                        static create(properties?: envoy.extensions.transport_sockets.tls.v3.TlsCertificate.$Properties): envoy.extensions.transport_sockets.tls.v3.TlsCertificate;

                        /**
                         * Encodes the specified TlsCertificate message. Does not implicitly {@link envoy.extensions.transport_sockets.tls.v3.TlsCertificate.verify|verify} messages.
                         * @param message TlsCertificate message or plain object to encode
                         * @param [writer] Writer to encode to
                         * @returns Writer
                         */
                        static encode(message: envoy.extensions.transport_sockets.tls.v3.TlsCertificate.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                        /**
                         * Decodes a TlsCertificate message from the specified reader or buffer.
                         * @param reader Reader or buffer to decode from
                         * @param [length] Message length if known beforehand
                         * @returns {envoy.extensions.transport_sockets.tls.v3.TlsCertificate & envoy.extensions.transport_sockets.tls.v3.TlsCertificate.$Shape} TlsCertificate
                         * @throws {Error} If the payload is not a reader or valid buffer
                         * @throws {$protobuf.util.ProtocolError} If required fields are missing
                         */
                        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): envoy.extensions.transport_sockets.tls.v3.TlsCertificate & envoy.extensions.transport_sockets.tls.v3.TlsCertificate.$Shape;

                        /**
                         * Gets the type url for TlsCertificate
                         * @param [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                         * @returns The type url
                         */
                        static getTypeUrl(prefix?: string): string;
                    }

                    namespace TlsCertificate {

                        /** Properties of a TlsCertificate. */
                        interface $Properties {

                            /** TlsCertificate certificateChain */
                            certificateChain?: (envoy.config.core.v3.DataSource.$Properties|null);

                            /** TlsCertificate privateKey */
                            privateKey?: (envoy.config.core.v3.DataSource.$Properties|null);

                            /** Unknown fields preserved while decoding when enabled */
                            $unknowns?: Uint8Array[];
                        }

                        /** Shape of a TlsCertificate. */
                        type $Shape = {
                          certificateChain?: envoy.config.core.v3.DataSource.$Shape|null;
                          privateKey?: envoy.config.core.v3.DataSource.$Shape|null;
                          $unknowns?: Uint8Array[];
                        };
                    }

                    /**
                     * Properties of a CertificateValidationContext.
                     * @deprecated Use envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.$Properties instead.
                     */
                    interface ICertificateValidationContext extends envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.$Properties {
                    }

                    /** Represents a CertificateValidationContext. */
                    class CertificateValidationContext {

                        /**
                         * Constructs a new CertificateValidationContext.
                         * @param [properties] Properties to set
                         */
                        constructor(properties?: envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.$Properties);

                        /** Unknown fields preserved while decoding when enabled */
                        $unknowns?: Uint8Array[];

                        /** CertificateValidationContext trustedCa. */
                        trustedCa?: (envoy.config.core.v3.DataSource.$Properties|null);

                        /** CertificateValidationContext customValidatorConfig. */
                        customValidatorConfig?: (envoy.config.core.v3.TypedExtensionConfig.$Properties|null);

                        /**
                         * Creates a new CertificateValidationContext instance using the specified properties.
                         * @param [properties] Properties to set
                         * @returns CertificateValidationContext instance
                         */
                        static create(properties: envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.$Shape): envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext & envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.$Shape;
                        static create(properties?: envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.$Properties): envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext;

                        /**
                         * Encodes the specified CertificateValidationContext message. Does not implicitly {@link envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.verify|verify} messages.
                         * @param message CertificateValidationContext message or plain object to encode
                         * @param [writer] Writer to encode to
                         * @returns Writer
                         */
                        static encode(message: envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                        /**
                         * Decodes a CertificateValidationContext message from the specified reader or buffer.
                         * @param reader Reader or buffer to decode from
                         * @param [length] Message length if known beforehand
                         * @returns {envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext & envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.$Shape} CertificateValidationContext
                         * @throws {Error} If the payload is not a reader or valid buffer
                         * @throws {$protobuf.util.ProtocolError} If required fields are missing
                         */
                        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext & envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.$Shape;

                        /**
                         * Gets the type url for CertificateValidationContext
                         * @param [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                         * @returns The type url
                         */
                        static getTypeUrl(prefix?: string): string;
                    }

                    namespace CertificateValidationContext {

                        /** Properties of a CertificateValidationContext. */
                        interface $Properties {

                            /** CertificateValidationContext trustedCa */
                            trustedCa?: (envoy.config.core.v3.DataSource.$Properties|null);

                            /** CertificateValidationContext customValidatorConfig */
                            customValidatorConfig?: (envoy.config.core.v3.TypedExtensionConfig.$Properties|null);

                            /** Unknown fields preserved while decoding when enabled */
                            $unknowns?: Uint8Array[];
                        }

                        /** Shape of a CertificateValidationContext. */
                        type $Shape = {
                          trustedCa?: envoy.config.core.v3.DataSource.$Shape|null;
                          customValidatorConfig?: envoy.config.core.v3.TypedExtensionConfig.$Shape|null;
                          $unknowns?: Uint8Array[];
                        };
                    }

                    /**
                     * Properties of a SPIFFECertValidatorConfig.
                     * @deprecated Use envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.$Properties instead.
                     */
                    interface ISPIFFECertValidatorConfig extends envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.$Properties {
                    }

                    /** Represents a SPIFFECertValidatorConfig. */
                    class SPIFFECertValidatorConfig {

                        /**
                         * Constructs a new SPIFFECertValidatorConfig.
                         * @param [properties] Properties to set
                         */
                        constructor(properties?: envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.$Properties);

                        /** Unknown fields preserved while decoding when enabled */
                        $unknowns?: Uint8Array[];

                        /** SPIFFECertValidatorConfig trustDomains. */
                        trustDomains: envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain.$Properties[];

                        /**
                         * Creates a new SPIFFECertValidatorConfig instance using the specified properties.
                         * @param [properties] Properties to set
                         * @returns SPIFFECertValidatorConfig instance
                         */
                        static create(properties: envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.$Shape): envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig & envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.$Shape;
                        static create(properties?: envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.$Properties): envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig;

                        /**
                         * Encodes the specified SPIFFECertValidatorConfig message. Does not implicitly {@link envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.verify|verify} messages.
                         * @param message SPIFFECertValidatorConfig message or plain object to encode
                         * @param [writer] Writer to encode to
                         * @returns Writer
                         */
                        static encode(message: envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                        /**
                         * Decodes a SPIFFECertValidatorConfig message from the specified reader or buffer.
                         * @param reader Reader or buffer to decode from
                         * @param [length] Message length if known beforehand
                         * @returns {envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig & envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.$Shape} SPIFFECertValidatorConfig
                         * @throws {Error} If the payload is not a reader or valid buffer
                         * @throws {$protobuf.util.ProtocolError} If required fields are missing
                         */
                        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig & envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.$Shape;

                        /**
                         * Gets the type url for SPIFFECertValidatorConfig
                         * @param [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                         * @returns The type url
                         */
                        static getTypeUrl(prefix?: string): string;
                    }

                    namespace SPIFFECertValidatorConfig {

                        /** Properties of a SPIFFECertValidatorConfig. */
                        interface $Properties {

                            /** SPIFFECertValidatorConfig trustDomains */
                            trustDomains?: (envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain.$Properties[]|null);

                            /** Unknown fields preserved while decoding when enabled */
                            $unknowns?: Uint8Array[];
                        }

                        /** Shape of a SPIFFECertValidatorConfig. */
                        type $Shape = {
                          trustDomains?: envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain.$Shape[]|null;
                          $unknowns?: Uint8Array[];
                        };

                        /**
                         * Properties of a TrustDomain.
                         * @deprecated Use envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain.$Properties instead.
                         */
                        interface ITrustDomain extends envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain.$Properties {
                        }

                        /** Represents a TrustDomain. */
                        class TrustDomain {

                            /**
                             * Constructs a new TrustDomain.
                             * @param [properties] Properties to set
                             */
                            constructor(properties?: envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain.$Properties);

                            /** Unknown fields preserved while decoding when enabled */
                            $unknowns?: Uint8Array[];

                            /** TrustDomain name. */
                            name: string;

                            /** TrustDomain trustBundle. */
                            trustBundle?: (envoy.config.core.v3.DataSource.$Properties|null);

                            /**
                             * Creates a new TrustDomain instance using the specified properties.
                             * @param [properties] Properties to set
                             * @returns TrustDomain instance
                             */
                            static create(properties: envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain.$Shape): envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain & envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain.$Shape;
                            static create(properties?: envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain.$Properties): envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain;

                            /**
                             * Encodes the specified TrustDomain message. Does not implicitly {@link envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain.verify|verify} messages.
                             * @param message TrustDomain message or plain object to encode
                             * @param [writer] Writer to encode to
                             * @returns Writer
                             */
                            static encode(message: envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                            /**
                             * Decodes a TrustDomain message from the specified reader or buffer.
                             * @param reader Reader or buffer to decode from
                             * @param [length] Message length if known beforehand
                             * @returns {envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain & envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain.$Shape} TrustDomain
                             * @throws {Error} If the payload is not a reader or valid buffer
                             * @throws {$protobuf.util.ProtocolError} If required fields are missing
                             */
                            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain & envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain.$Shape;

                            /**
                             * Gets the type url for TrustDomain
                             * @param [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                             * @returns The type url
                             */
                            static getTypeUrl(prefix?: string): string;
                        }

                        namespace TrustDomain {

                            /** Properties of a TrustDomain. */
                            interface $Properties {

                                /** TrustDomain name */
                                name?: (string|null);

                                /** TrustDomain trustBundle */
                                trustBundle?: (envoy.config.core.v3.DataSource.$Properties|null);

                                /** Unknown fields preserved while decoding when enabled */
                                $unknowns?: Uint8Array[];
                            }

                            /** Shape of a TrustDomain. */
                            type $Shape = {
                              name?: string|null;
                              trustBundle?: envoy.config.core.v3.DataSource.$Shape|null;
                              $unknowns?: Uint8Array[];
                            };
                        }
                    }
                }
            }
        }
    }

    /** Namespace config. */
    namespace config {

        /** Namespace core. */
        namespace core {

            /** Namespace v3. */
            namespace v3 {

                /**
                 * Properties of a Node.
                 * @deprecated Use envoy.config.core.v3.Node.$Properties instead.
                 */
                interface INode extends envoy.config.core.v3.Node.$Properties {
                }

                /** Represents a Node. */
                class Node {

                    /**
                     * Constructs a new Node.
                     * @param [properties] Properties to set
                     */
                    constructor(properties?: envoy.config.core.v3.Node.$Properties);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];

                    /** Node id. */
                    id: string;

                    /** Node cluster. */
                    cluster: string;

                    /** Node userAgentName. */
                    userAgentName: string;

                    /** Node userAgentBuildVersion. */
                    userAgentBuildVersion?: (envoy.config.core.v3.BuildVersion.$Properties|null);

                    /**
                     * Creates a new Node instance using the specified properties.
                     * @param [properties] Properties to set
                     * @returns Node instance
                     */
                    static create(properties: envoy.config.core.v3.Node.$Shape): envoy.config.core.v3.Node & envoy.config.core.v3.Node.$Shape;
                    static create(properties?: envoy.config.core.v3.Node.$Properties): envoy.config.core.v3.Node;

                    /**
                     * Encodes the specified Node message. Does not implicitly {@link envoy.config.core.v3.Node.verify|verify} messages.
                     * @param message Node message or plain object to encode
                     * @param [writer] Writer to encode to
                     * @returns Writer
                     */
                    static encode(message: envoy.config.core.v3.Node.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                    /**
                     * Decodes a Node message from the specified reader or buffer.
                     * @param reader Reader or buffer to decode from
                     * @param [length] Message length if known beforehand
                     * @returns {envoy.config.core.v3.Node & envoy.config.core.v3.Node.$Shape} Node
                     * @throws {Error} If the payload is not a reader or valid buffer
                     * @throws {$protobuf.util.ProtocolError} If required fields are missing
                     */
                    static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): envoy.config.core.v3.Node & envoy.config.core.v3.Node.$Shape;

                    /**
                     * Gets the type url for Node
                     * @param [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                     * @returns The type url
                     */
                    static getTypeUrl(prefix?: string): string;
                }

                namespace Node {

                    /** Properties of a Node. */
                    interface $Properties {

                        /** Node id */
                        id?: (string|null);

                        /** Node cluster */
                        cluster?: (string|null);

                        /** Node userAgentName */
                        userAgentName?: (string|null);

                        /** Node userAgentBuildVersion */
                        userAgentBuildVersion?: (envoy.config.core.v3.BuildVersion.$Properties|null);

                        /** Unknown fields preserved while decoding when enabled */
                        $unknowns?: Uint8Array[];
                    }

                    /** Shape of a Node. */
                    type $Shape = envoy.config.core.v3.Node.$Properties;
                }

                /**
                 * Properties of a BuildVersion.
                 * @deprecated Use envoy.config.core.v3.BuildVersion.$Properties instead.
                 */
                interface IBuildVersion extends envoy.config.core.v3.BuildVersion.$Properties {
                }

                /** Represents a BuildVersion. */
                class BuildVersion {

                    /**
                     * Constructs a new BuildVersion.
                     * @param [properties] Properties to set
                     */
                    constructor(properties?: envoy.config.core.v3.BuildVersion.$Properties);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];

                    /** BuildVersion version. */
                    version?: (envoy.type.v3.SemanticVersion.$Properties|null);

                    /**
                     * Creates a new BuildVersion instance using the specified properties.
                     * @param [properties] Properties to set
                     * @returns BuildVersion instance
                     */
                    static create(properties: envoy.config.core.v3.BuildVersion.$Shape): envoy.config.core.v3.BuildVersion & envoy.config.core.v3.BuildVersion.$Shape;
                    static create(properties?: envoy.config.core.v3.BuildVersion.$Properties): envoy.config.core.v3.BuildVersion;

                    /**
                     * Encodes the specified BuildVersion message. Does not implicitly {@link envoy.config.core.v3.BuildVersion.verify|verify} messages.
                     * @param message BuildVersion message or plain object to encode
                     * @param [writer] Writer to encode to
                     * @returns Writer
                     */
                    static encode(message: envoy.config.core.v3.BuildVersion.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                    /**
                     * Decodes a BuildVersion message from the specified reader or buffer.
                     * @param reader Reader or buffer to decode from
                     * @param [length] Message length if known beforehand
                     * @returns {envoy.config.core.v3.BuildVersion & envoy.config.core.v3.BuildVersion.$Shape} BuildVersion
                     * @throws {Error} If the payload is not a reader or valid buffer
                     * @throws {$protobuf.util.ProtocolError} If required fields are missing
                     */
                    static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): envoy.config.core.v3.BuildVersion & envoy.config.core.v3.BuildVersion.$Shape;

                    /**
                     * Gets the type url for BuildVersion
                     * @param [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                     * @returns The type url
                     */
                    static getTypeUrl(prefix?: string): string;
                }

                namespace BuildVersion {

                    /** Properties of a BuildVersion. */
                    interface $Properties {

                        /** BuildVersion version */
                        version?: (envoy.type.v3.SemanticVersion.$Properties|null);

                        /** Unknown fields preserved while decoding when enabled */
                        $unknowns?: Uint8Array[];
                    }

                    /** Shape of a BuildVersion. */
                    type $Shape = envoy.config.core.v3.BuildVersion.$Properties;
                }

                /**
                 * Properties of a DataSource.
                 * @deprecated Use envoy.config.core.v3.DataSource.$Properties instead.
                 */
                interface IDataSource extends envoy.config.core.v3.DataSource.$Properties {
                }

                /** Represents a DataSource. */
                class DataSource {

                    /**
                     * Constructs a new DataSource.
                     * @param [properties] Properties to set
                     */
                    constructor(properties?: envoy.config.core.v3.DataSource.$Properties);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];

                    /** DataSource filename. */
                    filename?: (string|null);

                    /** DataSource inlineBytes. */
                    inlineBytes?: (Uint8Array|null);

                    /** DataSource inlineString. */
                    inlineString?: (string|null);

                    /** DataSource specifier. */
                    specifier?: ("filename"|"inlineBytes"|"inlineString");

                    /**
                     * Creates a new DataSource instance using the specified properties.
                     * @param [properties] Properties to set
                     * @returns DataSource instance
                     */
                    static create(properties: envoy.config.core.v3.DataSource.$Shape): envoy.config.core.v3.DataSource & envoy.config.core.v3.DataSource.$Shape;
                    static create(properties?: envoy.config.core.v3.DataSource.$Properties): envoy.config.core.v3.DataSource;

                    /**
                     * Encodes the specified DataSource message. Does not implicitly {@link envoy.config.core.v3.DataSource.verify|verify} messages.
                     * @param message DataSource message or plain object to encode
                     * @param [writer] Writer to encode to
                     * @returns Writer
                     */
                    static encode(message: envoy.config.core.v3.DataSource.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                    /**
                     * Decodes a DataSource message from the specified reader or buffer.
                     * @param reader Reader or buffer to decode from
                     * @param [length] Message length if known beforehand
                     * @returns {envoy.config.core.v3.DataSource & envoy.config.core.v3.DataSource.$Shape} DataSource
                     * @throws {Error} If the payload is not a reader or valid buffer
                     * @throws {$protobuf.util.ProtocolError} If required fields are missing
                     */
                    static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): envoy.config.core.v3.DataSource & envoy.config.core.v3.DataSource.$Shape;

                    /**
                     * Gets the type url for DataSource
                     * @param [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                     * @returns The type url
                     */
                    static getTypeUrl(prefix?: string): string;
                }

                namespace DataSource {

                    /** Properties of a DataSource. */
                    interface $Properties {

                        /** DataSource filename */
                        filename?: (string|null);

                        /** DataSource inlineBytes */
                        inlineBytes?: (Uint8Array|null);

                        /** DataSource inlineString */
                        inlineString?: (string|null);

                        /** DataSource specifier */
                        specifier?: ("filename"|"inlineBytes"|"inlineString");

                        /** Unknown fields preserved while decoding when enabled */
                        $unknowns?: Uint8Array[];
                    }

                    /** Narrowed shape of a DataSource. */
                    type $Shape = {
                      filename?: string|null;
                      inlineBytes?: Uint8Array|null;
                      inlineString?: string|null;
                      $unknowns?: Uint8Array[];
                    } & (
                      ({ specifier?: undefined; filename?: null; inlineBytes?: null; inlineString?: null }|{ specifier?: "filename"; filename: string; inlineBytes?: null; inlineString?: null }|{ specifier?: "inlineBytes"; filename?: null; inlineBytes: Uint8Array; inlineString?: null }|{ specifier?: "inlineString"; filename?: null; inlineBytes?: null; inlineString: string })
                    );
                }

                /**
                 * Properties of a TypedExtensionConfig.
                 * @deprecated Use envoy.config.core.v3.TypedExtensionConfig.$Properties instead.
                 */
                interface ITypedExtensionConfig extends envoy.config.core.v3.TypedExtensionConfig.$Properties {
                }

                /** Represents a TypedExtensionConfig. */
                class TypedExtensionConfig {

                    /**
                     * Constructs a new TypedExtensionConfig.
                     * @param [properties] Properties to set
                     */
                    constructor(properties?: envoy.config.core.v3.TypedExtensionConfig.$Properties);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];

                    /** TypedExtensionConfig name. */
                    name: string;

                    /** TypedExtensionConfig typedConfig. */
                    typedConfig?: (google.protobuf.Any.$Properties|null);

                    /**
                     * Creates a new TypedExtensionConfig instance using the specified properties.
                     * @param [properties] Properties to set
                     * @returns TypedExtensionConfig instance
                     */
                    static create(properties: envoy.config.core.v3.TypedExtensionConfig.$Shape): envoy.config.core.v3.TypedExtensionConfig & envoy.config.core.v3.TypedExtensionConfig.$Shape;
                    static create(properties?: envoy.config.core.v3.TypedExtensionConfig.$Properties): envoy.config.core.v3.TypedExtensionConfig;

                    /**
                     * Encodes the specified TypedExtensionConfig message. Does not implicitly {@link envoy.config.core.v3.TypedExtensionConfig.verify|verify} messages.
                     * @param message TypedExtensionConfig message or plain object to encode
                     * @param [writer] Writer to encode to
                     * @returns Writer
                     */
                    static encode(message: envoy.config.core.v3.TypedExtensionConfig.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                    /**
                     * Decodes a TypedExtensionConfig message from the specified reader or buffer.
                     * @param reader Reader or buffer to decode from
                     * @param [length] Message length if known beforehand
                     * @returns {envoy.config.core.v3.TypedExtensionConfig & envoy.config.core.v3.TypedExtensionConfig.$Shape} TypedExtensionConfig
                     * @throws {Error} If the payload is not a reader or valid buffer
                     * @throws {$protobuf.util.ProtocolError} If required fields are missing
                     */
                    static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): envoy.config.core.v3.TypedExtensionConfig & envoy.config.core.v3.TypedExtensionConfig.$Shape;

                    /**
                     * Gets the type url for TypedExtensionConfig
                     * @param [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                     * @returns The type url
                     */
                    static getTypeUrl(prefix?: string): string;
                }

                namespace TypedExtensionConfig {

                    /** Properties of a TypedExtensionConfig. */
                    interface $Properties {

                        /** TypedExtensionConfig name */
                        name?: (string|null);

                        /** TypedExtensionConfig typedConfig */
                        typedConfig?: (google.protobuf.Any.$Properties|null);

                        /** Unknown fields preserved while decoding when enabled */
                        $unknowns?: Uint8Array[];
                    }

                    /** Shape of a TypedExtensionConfig. */
                    type $Shape = envoy.config.core.v3.TypedExtensionConfig.$Properties;
                }
            }
        }
    }

    /** Namespace type. */
    namespace type {

        /** Namespace v3. */
        namespace v3 {

            /**
             * Properties of a SemanticVersion.
             * @deprecated Use envoy.type.v3.SemanticVersion.$Properties instead.
             */
            interface ISemanticVersion extends envoy.type.v3.SemanticVersion.$Properties {
            }

            /** Represents a SemanticVersion. */
            class SemanticVersion {

                /**
                 * Constructs a new SemanticVersion.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: envoy.type.v3.SemanticVersion.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** SemanticVersion majorNumber. */
                majorNumber: number;

                /** SemanticVersion minorNumber. */
                minorNumber: number;

                /** SemanticVersion patch. */
                patch: number;

                /**
                 * Creates a new SemanticVersion instance using the specified properties.
                 * @param [properties] Properties to set
                 * @returns SemanticVersion instance
                 */
                static create(properties: envoy.type.v3.SemanticVersion.$Shape): envoy.type.v3.SemanticVersion & envoy.type.v3.SemanticVersion.$Shape;
                static create(properties?: envoy.type.v3.SemanticVersion.$Properties): envoy.type.v3.SemanticVersion;

                /**
                 * Encodes the specified SemanticVersion message. Does not implicitly {@link envoy.type.v3.SemanticVersion.verify|verify} messages.
                 * @param message SemanticVersion message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: envoy.type.v3.SemanticVersion.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a SemanticVersion message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {envoy.type.v3.SemanticVersion & envoy.type.v3.SemanticVersion.$Shape} SemanticVersion
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): envoy.type.v3.SemanticVersion & envoy.type.v3.SemanticVersion.$Shape;

                /**
                 * Gets the type url for SemanticVersion
                 * @param [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                 * @returns The type url
                 */
                static getTypeUrl(prefix?: string): string;
            }

            namespace SemanticVersion {

                /** Properties of a SemanticVersion. */
                interface $Properties {

                    /** SemanticVersion majorNumber */
                    majorNumber?: (number|null);

                    /** SemanticVersion minorNumber */
                    minorNumber?: (number|null);

                    /** SemanticVersion patch */
                    patch?: (number|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a SemanticVersion. */
                type $Shape = envoy.type.v3.SemanticVersion.$Properties;
            }
        }
    }
}

/** Namespace google. */
export namespace google {

    /** Namespace protobuf. */
    namespace protobuf {

        /**
         * Properties of an Any.
         * @deprecated Use google.protobuf.Any.$Properties instead.
         */
        interface IAny extends google.protobuf.Any.$Properties {
        }

        /** Represents an Any. */
        class Any {

            /**
             * Constructs a new Any.
             * @param [properties] Properties to set
             */
            constructor(properties?: google.protobuf.Any.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** Any type_url. */
            type_url: string;

            /** Any value. */
            value: Uint8Array;

            /**
             * Creates a new Any instance using the specified properties.
             * @param [properties] Properties to set
             * @returns Any instance
             */
            static create(properties: google.protobuf.Any.$Shape): google.protobuf.Any & google.protobuf.Any.$Shape;
            static create(properties?: google.protobuf.Any.$Properties): google.protobuf.Any;

            /**
             * Encodes the specified Any message. Does not implicitly {@link google.protobuf.Any.verify|verify} messages.
             * @param message Any message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: google.protobuf.Any.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes an Any message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {google.protobuf.Any & google.protobuf.Any.$Shape} Any
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): google.protobuf.Any & google.protobuf.Any.$Shape;

            /**
             * Gets the type url for Any
             * @param [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
             * @returns The type url
             */
            static getTypeUrl(prefix?: string): string;
        }

        namespace Any {

            /** Properties of an Any. */
            interface $Properties {

                /** Any type_url */
                type_url?: (string|null);

                /** Any value */
                value?: (Uint8Array|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of an Any. */
            type $Shape = google.protobuf.Any.$Properties;
        }
    }

    /** Namespace rpc. */
    namespace rpc {

        /**
         * Properties of a Status.
         * @deprecated Use google.rpc.Status.$Properties instead.
         */
        interface IStatus extends google.rpc.Status.$Properties {
        }

        /** Represents a Status. */
        class Status {

            /**
             * Constructs a new Status.
             * @param [properties] Properties to set
             */
            constructor(properties?: google.rpc.Status.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** Status code. */
            code: number;

            /** Status message. */
            message: string;

            /**
             * Creates a new Status instance using the specified properties.
             * @param [properties] Properties to set
             * @returns Status instance
             */
            static create(properties: google.rpc.Status.$Shape): google.rpc.Status & google.rpc.Status.$Shape;
            static create(properties?: google.rpc.Status.$Properties): google.rpc.Status;

            /**
             * Encodes the specified Status message. Does not implicitly {@link google.rpc.Status.verify|verify} messages.
             * @param message Status message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: google.rpc.Status.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a Status message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {google.rpc.Status & google.rpc.Status.$Shape} Status
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): google.rpc.Status & google.rpc.Status.$Shape;

            /**
             * Gets the type url for Status
             * @param [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
             * @returns The type url
             */
            static getTypeUrl(prefix?: string): string;
        }

        namespace Status {

            /** Properties of a Status. */
            interface $Properties {

                /** Status code */
                code?: (number|null);

                /** Status message */
                message?: (string|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a Status. */
            type $Shape = google.rpc.Status.$Properties;
        }
    }
}
