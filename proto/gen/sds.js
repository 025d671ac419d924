/*eslint-disable block-scoped-var, id-length, no-control-regex, no-magic-numbers, no-mixed-operators, no-prototype-builtins, no-redeclare, no-shadow, no-var, sort-vars, default-case, jsdoc/require-param*/
import $protobuf from "protobufjs/minimal.js";

// Common aliases
const $Reader = $protobuf.Reader, $Writer = $protobuf.Writer, $util = $protobuf.util;
const $Object = $util.global.Object, $undefined = $util.global.undefined, $Error = $util.global.Error, $RangeError = $util.global.RangeError;

// Exported root namespace
const $root = $protobuf.roots["signet-sds"] || ($protobuf.roots["signet-sds"] = {});

export const envoy = $root.envoy = (() => {

    /**
     * Namespace envoy.
     * @exports envoy
     * @namespace
     */
    const envoy = {};

    envoy.service = (function() {

        /**
         * Namespace service.
         * @memberof envoy
         * @namespace
         */
        const service = {};

        service.secret = (function() {

            /**
             * Namespace secret.
             * @memberof envoy.service
             * @namespace
             */
            const secret = {};

            secret.v3 = (function() {

                /**
                 * Namespace v3.
                 * @memberof envoy.service.secret
                 * @namespace
                 */
                const v3 = {};

                return v3;
            })();

            return secret;
        })();

        service.discovery = (function() {

            /**
             * Namespace discovery.
             * @memberof envoy.service
             * @namespace
             */
            const discovery = {};

            discovery.v3 = (function() {

                /**
                 * Namespace v3.
                 * @memberof envoy.service.discovery
                 * @namespace
                 */
                const v3 = {};

                v3.DiscoveryRequest = (function() {

                    /**
                     * Properties of a DiscoveryRequest.
                     * @typedef {Object} envoy.service.discovery.v3.DiscoveryRequest.$Properties
                     * @property {string|null} [versionInfo] DiscoveryRequest versionInfo
                     * @property {envoy.config.core.v3.Node.$Properties|null} [node] DiscoveryRequest node
                     * @property {Array.<string>|null} [resourceNames] DiscoveryRequest resourceNames
                     * @property {string|null} [typeUrl] DiscoveryRequest typeUrl
                     * @property {string|null} [responseNonce] DiscoveryRequest responseNonce
                     * @property {google.rpc.Status.$Properties|null} [errorDetail] DiscoveryRequest errorDetail
                     * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                     */

                    /**
                     * Properties of a DiscoveryRequest.
                     * @memberof envoy.service.discovery.v3
                     * @interface IDiscoveryRequest
                     * @augments envoy.service.discovery.v3.DiscoveryRequest.$Properties
                     * @deprecated Use envoy.service.discovery.v3.DiscoveryRequest.$Properties instead.
                     */

                    /**
                     * Shape of a DiscoveryRequest.
                     * @typedef {envoy.service.discovery.v3.DiscoveryRequest.$Properties} envoy.service.discovery.v3.DiscoveryRequest.$Shape
                     */

                    /**
                     * Constructs a new DiscoveryRequest.
                     * @memberof envoy.service.discovery.v3
                     * @classdesc Represents a DiscoveryRequest.
                     * @constructor
                     * @param {envoy.service.discovery.v3.DiscoveryRequest.$Properties=} [properties] Properties to set
                     * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                     */
                    const DiscoveryRequest = function (properties) {
                        this.resourceNames = [];
                        if (properties)
                            for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                                if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                    this[keys[i]] = properties[keys[i]];
                    };

                    /**
                     * DiscoveryRequest versionInfo.
                     * @member {string} versionInfo
                     * @memberof envoy.service.discovery.v3.DiscoveryRequest
                     * @instance
                     */
                    DiscoveryRequest.prototype.versionInfo = "";

                    /**
                     * DiscoveryRequest node.
                     * @member {envoy.config.core.v3.Node.$Properties|null|undefined} node
                     * @memberof envoy.service.discovery.v3.DiscoveryRequest
                     * @instance
                     */
                    DiscoveryRequest.prototype.node = null;

                    /**
                     * DiscoveryRequest resourceNames.
                     * @member {Array.<string>} resourceNames
                     * @memberof envoy.service.discovery.v3.DiscoveryRequest
                     * @instance
                     */
                    DiscoveryRequest.prototype.resourceNames = $util.emptyArray;

                    /**
                     * DiscoveryRequest typeUrl.
                     * @member {string} typeUrl
                     * @memberof envoy.service.discovery.v3.DiscoveryRequest
                     * @instance
                     */
                    DiscoveryRequest.prototype.typeUrl = "";

                    /**
                     * DiscoveryRequest responseNonce.
                     * @member {string} responseNonce
                     * @memberof envoy.service.discovery.v3.DiscoveryRequest
                     * @instance
                     */
                    DiscoveryRequest.prototype.responseNonce = "";

                    /**
                     * DiscoveryRequest errorDetail.
                     * @member {google.rpc.Status.$Properties|null|undefined} errorDetail
                     * @memberof envoy.service.discovery.v3.DiscoveryRequest
                     * @instance
                     */
                    DiscoveryRequest.prototype.errorDetail = null;

                    /**
                     * Creates a new DiscoveryRequest instance using the specified properties.
                     * @function create
                     * @memberof envoy.service.discovery.v3.DiscoveryRequest
                     * @static
                     * @param {envoy.service.discovery.v3.DiscoveryRequest.$Properties=} [properties] Properties to set
                     * @returns {envoy.service.discovery.v3.DiscoveryRequest} DiscoveryRequest instance
                     * @type {{
                     *   (properties: envoy.service.discovery.v3.DiscoveryRequest.$Shape): envoy.service.discovery.v3.DiscoveryRequest & envoy.service.discovery.v3.DiscoveryRequest.$Shape;
                     *   (properties?: envoy.service.discovery.v3.DiscoveryRequest.$Properties): envoy.service.discovery.v3.DiscoveryRequest;
                     * }}
                     */
                    DiscoveryRequest.create = function(properties) {
                        return new DiscoveryRequest(properties);
                    };

                    /**
                     * Encodes the specified DiscoveryRequest message. Does not implicitly {@link envoy.service.discovery.v3.DiscoveryRequest.verify|verify} messages.
                     * @function encode
                     * @memberof envoy.service.discovery.v3.DiscoveryRequest
                     * @static
                     * @param {envoy.service.discovery.v3.DiscoveryRequest.$Properties} message DiscoveryRequest message or plain object to encode
                     * @param {$protobuf.Writer} [writer] Writer to encode to
                     * @returns {$protobuf.Writer} Writer
                     */
                    DiscoveryRequest.encode = function (message, writer, _depth) {
                        if (!writer)
                            writer = $Writer.create();
                        if (_depth === $undefined)
                            _depth = 0;
                        if (_depth > $util.recursionLimit)
                            throw $Error("max depth exceeded");
                        if (message.versionInfo != null && $Object.hasOwnProperty.call(message, "versionInfo") && message.versionInfo !== "")
                            writer.uint32(/* id 1, wireType 2 =*/10).string(message.versionInfo);
                        if (message.node != null && $Object.hasOwnProperty.call(message, "node"))
                            $root.envoy.config.core.v3.Node.encode(message.node, writer.uint32(/* id 2, wireType 2 =*/18).fork(), _depth + 1).ldelim();
                        if (message.resourceNames != null && message.resourceNames.length)
                            for (let i = 0; i < message.resourceNames.length; ++i)
                                writer.uint32(/* id 3, wireType 2 =*/26).string(message.resourceNames[i]);
                        if (message.typeUrl != null && $Object.hasOwnProperty.call(message, "typeUrl") && message.typeUrl !== "")
                            writer.uint32(/* id 4, wireType 2 =*/34).string(message.typeUrl);
                        if (message.responseNonce != null && $Object.hasOwnProperty.call(message, "responseNonce") && message.responseNonce !== "")
                            writer.uint32(/* id 5, wireType 2 =*/42).string(message.responseNonce);
                        if (message.errorDetail != null && $Object.hasOwnProperty.call(message, "errorDetail"))
                            $root.google.rpc.Status.encode(message.errorDetail, writer.uint32(/* id 6, wireType 2 =*/50).fork(), _depth + 1).ldelim();
                        if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                            for (let i = 0; i < message.$unknowns.length; ++i)
                                writer.raw(message.$unknowns[i]);
                        return writer;
                    };

                    /**
                     * Decodes a DiscoveryRequest message from the specified reader or buffer.
                     * @function decode
                     * @memberof envoy.service.discovery.v3.DiscoveryRequest
                     * @static
                     * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
                     * @param {number} [length] Message length if known beforehand
                     * @returns {envoy.service.discovery.v3.DiscoveryRequest & envoy.service.discovery.v3.DiscoveryRequest.$Shape} DiscoveryRequest
                     * @throws {Error} If the payload is not a reader or valid buffer
                     * @throws {$protobuf.util.ProtocolError} If required fields are missing
                     */
                    DiscoveryRequest.decode = function (reader, length, _end, _depth, _target) {
                        if (!(reader instanceof $Reader))
                            reader = $Reader.create(reader);
                        if (_depth === $undefined)
                            _depth = 0;
                        if (_depth > $Reader.recursionLimit)
                            throw $Error("max depth exceeded");
                        let end, message, value;
                        if (length === $undefined)
                            end = reader.len;
                        else {
                            end = reader.pos + length;
                            if (end > reader.len)
                                throw $RangeError("index out of range");
                            length = reader.len;
                            reader.len = end;
                        }
                        message = _target || new $root.envoy.service.discovery.v3.DiscoveryRequest();
                        while (reader.pos < end) {
                            let start = reader.pos;
                            let tag = reader.tag();
                            if (tag === _end) {
                                _end = $undefined;
                                break;
                            }
                            let wireType = tag & 7;
                            switch (tag >>>= 3) {
                            case 1: {
                                    if (wireType !== 2)
                                        break;
                                    if ((value = reader.stringVerify()).length)
                                        message.versionInfo = value;
                                    else
                                        delete message.versionInfo;
                                    continue;
                                }
                            case 2: {
                                    if (wireType !== 2)
                                        break;
                                    message.node = $root.envoy.config.core.v3.Node.decode(reader, reader.size(), $undefined, _depth + 1, message.node);
                                    continue;
                                }
                            case 3: {
                                    if (wireType !== 2)
                                        break;
                                    if (!(message.resourceNames && message.resourceNames.length))
                                        message.resourceNames = [];
                                    message.resourceNames.push(reader.stringVerify());
                                    continue;
                                }
                            case 4: {
                                    if (wireType !== 2)
                                        break;
                                    if ((value = reader.stringVerify()).length)
                                        message.typeUrl = value;
                                    else
                                        delete message.typeUrl;
                                    continue;
                                }
                            case 5: {
                                    if (wireType !== 2)
                                        break;
                                    if ((value = reader.stringVerify()).length)
                                        message.responseNonce = value;
                                    else
                                        delete message.responseNonce;
                                    continue;
                                }
                            case 6: {
                                    if (wireType !== 2)
                                        break;
                                    message.errorDetail = $root.google.rpc.Status.decode(reader, reader.size(), $undefined, _depth + 1, message.errorDetail);
                                    continue;
                                }
                            }
                            reader.skipType(wireType, _depth, tag);
                            if (!reader.discardUnknown) {
                                $util.makeProp(message, "$unknowns", false);
                                (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                            }
                        }
                        if (length !== $undefined) {
                            if (reader.pos !== end)
                                throw $RangeError("index out of range");
                            reader.len = length;
                        }
                        if (_end !== $undefined)
                            throw $Error("missing end group");
                        return message;
                    };

                    /**
                     * Gets the type url for DiscoveryRequest
                     * @function getTypeUrl
                     * @memberof envoy.service.discovery.v3.DiscoveryRequest
                     * @static
                     * @param {string} [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                     * @returns {string} The type url
                     */
                    DiscoveryRequest.getTypeUrl = function(prefix) {
                        if (prefix === $undefined)
                            prefix = "type.googleapis.com";
                        return prefix + "/envoy.service.discovery.v3.DiscoveryRequest";
                    };

                    return DiscoveryRequest;
                })();

                v3.DiscoveryResponse = (function() {

                    /**
                     * Properties of a DiscoveryResponse.
                     * @typedef {Object} envoy.service.discovery.v3.DiscoveryResponse.$Properties
                     * @property {string|null} [versionInfo] DiscoveryResponse versionInfo
                     * @property {Array.<google.protobuf.Any.$Properties>|null} [resources] DiscoveryResponse resources
                     * @property {string|null} [typeUrl] DiscoveryResponse typeUrl
                     * @property {string|null} [nonce] DiscoveryResponse nonce
                     * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                     */

                    /**
                     * Properties of a DiscoveryResponse.
                     * @memberof envoy.service.discovery.v3
                     * @interface IDiscoveryResponse
                     * @augments envoy.service.discovery.v3.DiscoveryResponse.$Properties
                     * @deprecated Use envoy.service.discovery.v3.DiscoveryResponse.$Properties instead.
                     */

                    /**
                     * Shape of a DiscoveryResponse.
                     * @typedef {envoy.service.discovery.v3.DiscoveryResponse.$Properties} envoy.service.discovery.v3.DiscoveryResponse.$Shape
                     */

                    /**
                     * Constructs a new DiscoveryResponse.
                     * @memberof envoy.service.discovery.v3
                     * @classdesc Represents a DiscoveryResponse.
                     * @constructor
                     * @param {envoy.service.discovery.v3.DiscoveryResponse.$Properties=} [properties] Properties to set
                     * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                     */
                    const DiscoveryResponse = function (properties) {
                        this.resources = [];
                        if (properties)
                            for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                                if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                    this[keys[i]] = properties[keys[i]];
                    };

                    /**
                     * DiscoveryResponse versionInfo.
                     * @member {string} versionInfo
                     * @memberof envoy.service.discovery.v3.DiscoveryResponse
                     * @instance
                     */
                    DiscoveryResponse.prototype.versionInfo = "";

                    /**
                     * DiscoveryResponse resources.
                     * @member {Array.<google.protobuf.Any.$Properties>} resources
                     * @memberof envoy.service.discovery.v3.DiscoveryResponse
                     * @instance
                     */
                    DiscoveryResponse.prototype.resources = $util.emptyArray;

                    /**
                     * DiscoveryResponse typeUrl.
                     * @member {string} typeUrl
                     * @memberof envoy.service.discovery.v3.DiscoveryResponse
                     * @instance
                     */
                    DiscoveryResponse.prototype.typeUrl = "";

                    /**
                     * DiscoveryResponse nonce.
                     * @member {string} nonce
                     * @memberof envoy.service.discovery.v3.DiscoveryResponse
                     * @instance
                     */
                    DiscoveryResponse.prototype.nonce = "";

                    /**
                     * Creates a new DiscoveryResponse instance using the specified properties.
                     * @function create
                     * @memberof envoy.service.discovery.v3.DiscoveryResponse
                     * @static
                     * @param {envoy.service.discovery.v3.DiscoveryResponse.$Properties=} [properties] Properties to set
                     * @returns {envoy.service.discovery.v3.DiscoveryResponse} DiscoveryResponse instance
                     * @type {{
                     *   (properties: envoy.service.discovery.v3.DiscoveryResponse.$Shape): envoy.service.discovery.v3.DiscoveryResponse & envoy.service.discovery.v3.DiscoveryResponse.$Shape;
                     *   (properties?: envoy.service.discovery.v3.DiscoveryResponse.$Properties): envoy.service.discovery.v3.DiscoveryResponse;
                     * }}
                     */
                    DiscoveryResponse.create = function(properties) {
                        return new DiscoveryResponse(properties);
                    };

                    /**
                     * Encodes the specified DiscoveryResponse message. Does not implicitly {@link envoy.service.discovery.v3.DiscoveryResponse.verify|verify} messages.
                     * @function encode
                     * @memberof envoy.service.discovery.v3.DiscoveryResponse
                     * @static
                     * @param {envoy.service.discovery.v3.DiscoveryResponse.$Properties} message DiscoveryResponse message or plain object to encode
                     * @param {$protobuf.Writer} [writer] Writer to encode to
                     * @returns {$protobuf.Writer} Writer
                     */
                    DiscoveryResponse.encode = function (message, writer, _depth) {
                        if (!writer)
                            writer = $Writer.create();
                        if (_depth === $undefined)
                            _depth = 0;
                        if (_depth > $util.recursionLimit)
                            throw $Error("max depth exceeded");
                        if (message.versionInfo != null && $Object.hasOwnProperty.call(message, "versionInfo") && message.versionInfo !== "")
                            writer.uint32(/* id 1, wireType 2 =*/10).string(message.versionInfo);
                        if (message.resources != null && message.resources.length)
                            for (let i = 0; i < message.resources.length; ++i)
                                $root.google.protobuf.Any.encode(message.resources[i], writer.uint32(/* id 2, wireType 2 =*/18).fork(), _depth + 1).ldelim();
                        if (message.typeUrl != null && $Object.hasOwnProperty.call(message, "typeUrl") && message.typeUrl !== "")
                            writer.uint32(/* id 4, wireType 2 =*/34).string(message.typeUrl);
                        if (message.nonce != null && $Object.hasOwnProperty.call(message, "nonce") && message.nonce !== "")
                            writer.uint32(/* id 5, wireType 2 =*/42).string(message.nonce);
                        if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                            for (let i = 0; i < message.$unknowns.length; ++i)
                                writer.raw(message.$unknowns[i]);
                        return writer;
                    };

                    /**
                     * Decodes a DiscoveryResponse message from the specified reader or buffer.
                     * @function decode
                     * @memberof envoy.service.discovery.v3.DiscoveryResponse
                     * @static
                     * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
                     * @param {number} [length] Message length if known beforehand
                     * @returns {envoy.service.discovery.v3.DiscoveryResponse & envoy.service.discovery.v3.DiscoveryResponse.$Shape} DiscoveryResponse
                     * @throws {Error} If the payload is not a reader or valid buffer
                     * @throws {$protobuf.util.ProtocolError} If required fields are missing
                     */
                    DiscoveryResponse.decode = function (reader, length, _end, _depth, _target) {
                        if (!(reader instanceof $Reader))
                            reader = $Reader.create(reader);
                        if (_depth === $undefined)
                            _depth = 0;
                        if (_depth > $Reader.recursionLimit)
                            throw $Error("max depth exceeded");
                        let end, message, value;
                        if (length === $undefined)
                            end = reader.len;
                        else {
                            end = reader.pos + length;
                            if (end > reader.len)
                                throw $RangeError("index out of range");
                            length = reader.len;
                            reader.len = end;
                        }
                        message = _target || new $root.envoy.service.discovery.v3.DiscoveryResponse();
                        while (reader.pos < end) {
                            let start = reader.pos;
                            let tag = reader.tag();
                            if (tag === _end) {
                                _end = $undefined;
                                break;
                            }
                            let wireType = tag & 7;
                            switch (tag >>>= 3) {
                            case 1: {
                                    if (wireType !== 2)
                                        break;
                                    if ((value = reader.stringVerify()).length)
                                        message.versionInfo = value;
                                    else
                                        delete message.versionInfo;
                                    continue;
                                }
                            case 2: {
                                    if (wireType !== 2)
                                        break;
                                    if (!(message.resources && message.resources.length))
                                        message.resources = [];
                                    message.resources.push($root.google.protobuf.Any.decode(reader, reader.size(), $undefined, _depth + 1));
                                    continue;
                                }
                            case 4: {
                                    if (wireType !== 2)
                                        break;
                                    if ((value = reader.stringVerify()).length)
                                        message.typeUrl = value;
                                    else
                                        delete message.typeUrl;
                                    continue;
                                }
                            case 5: {
                                    if (wireType !== 2)
                                        break;
                                    if ((value = reader.stringVerify()).length)
                                        message.nonce = value;
                                    else
                                        delete message.nonce;
                                    continue;
                                }
                            }
                            reader.skipType(wireType, _depth, tag);
                            if (!reader.discardUnknown) {
                                $util.makeProp(message, "$unknowns", false);
                                (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                            }
                        }
                        if (length !== $undefined) {
                            if (reader.pos !== end)
                                throw $RangeError("index out of range");
                            reader.len = length;
                        }
                        if (_end !== $undefined)
                            throw $Error("missing end group");
                        return message;
                    };

                    /**
                     * Gets the type url for DiscoveryResponse
                     * @function getTypeUrl
                     * @memberof envoy.service.discovery.v3.DiscoveryResponse
                     * @static
                     * @param {string} [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                     * @returns {string} The type url
                     */
                    DiscoveryResponse.getTypeUrl = function(prefix) {
                        if (prefix === $undefined)
                            prefix = "type.googleapis.com";
                        return prefix + "/envoy.service.discovery.v3.DiscoveryResponse";
                    };

                    return DiscoveryResponse;
                })();

                v3.DeltaDiscoveryRequest = (function() {

                    /**
                     * Properties of a DeltaDiscoveryRequest.
                     * @typedef {Object} envoy.service.discovery.v3.DeltaDiscoveryRequest.$Properties
                     * @property {envoy.config.core.v3.Node.$Properties|null} [node] DeltaDiscoveryRequest node
                     * @property {string|null} [typeUrl] DeltaDiscoveryRequest typeUrl
                     * @property {Array.<string>|null} [resourceNamesSubscribe] DeltaDiscoveryRequest resourceNamesSubscribe
                     * @property {Array.<string>|null} [resourceNamesUnsubscribe] DeltaDiscoveryRequest resourceNamesUnsubscribe
                     * @property {Object.<string,string>|null} [initialResourceVersions] DeltaDiscoveryRequest initialResourceVersions
                     * @property {string|null} [responseNonce] DeltaDiscoveryRequest responseNonce
                     * @property {google.rpc.Status.$Properties|null} [errorDetail] DeltaDiscoveryRequest errorDetail
                     * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                     */

                    /**
                     * Properties of a DeltaDiscoveryRequest.
                     * @memberof envoy.service.discovery.v3
                     * @interface IDeltaDiscoveryRequest
                     * @augments envoy.service.discovery.v3.DeltaDiscoveryRequest.$Properties
                     * @deprecated Use envoy.service.discovery.v3.DeltaDiscoveryRequest.$Properties instead.
                     */

                    /**
                     * Shape of a DeltaDiscoveryRequest.
                     * @typedef {envoy.service.discovery.v3.DeltaDiscoveryRequest.$Properties} envoy.service.discovery.v3.DeltaDiscoveryRequest.$Shape
                     */

                    /**
                     * Constructs a new DeltaDiscoveryRequest.
                     * @memberof envoy.service.discovery.v3
                     * @classdesc Represents a DeltaDiscoveryRequest.
                     * @constructor
                     * @param {envoy.service.discovery.v3.DeltaDiscoveryRequest.$Properties=} [properties] Properties to set
                     * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                     */
                    const DeltaDiscoveryRequest = function (properties) {
                        this.resourceNamesSubscribe = [];
                        this.resourceNamesUnsubscribe = [];
                        this.initialResourceVersions = {};
                        if (properties)
                            for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                                if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                    this[keys[i]] = properties[keys[i]];
                    };

                    /**
                     * DeltaDiscoveryRequest node.
                     * @member {envoy.config.core.v3.Node.$Properties|null|undefined} node
                     * @memberof envoy.service.discovery.v3.DeltaDiscoveryRequest
                     * @instance
                     */
                    DeltaDiscoveryRequest.prototype.node = null;

                    /**
                     * DeltaDiscoveryRequest typeUrl.
                     * @member {string} typeUrl
                     * @memberof envoy.service.discovery.v3.DeltaDiscoveryRequest
                     * @instance
                     */
                    DeltaDiscoveryRequest.prototype.typeUrl = "";

                    /**
                     * DeltaDiscoveryRequest resourceNamesSubscribe.
                     * @member {Array.<string>} resourceNamesSubscribe
                     * @memberof envoy.service.discovery.v3.DeltaDiscoveryRequest
                     * @instance
                     */
                    DeltaDiscoveryRequest.prototype.resourceNamesSubscribe = $util.emptyArray;

                    /**
                     * DeltaDiscoveryRequest resourceNamesUnsubscribe.
                     * @member {Array.<string>} resourceNamesUnsubscribe
                     * @memberof envoy.service.discovery.v3.DeltaDiscoveryRequest
                     * @instance
                     */
                    DeltaDiscoveryRequest.prototype.resourceNamesUnsubscribe = $util.emptyArray;

                    /**
                     * DeltaDiscoveryRequest initialResourceVersions.
                     * @member {Object.<string,string>} initialResourceVersions
                     * @memberof envoy.service.discovery.v3.DeltaDiscoveryRequest
                     * @instance
                     */
                    DeltaDiscoveryRequest.prototype.initialResourceVersions = $util.emptyObject;

                    /**
                     * DeltaDiscoveryRequest responseNonce.
                     * @member {string} responseNonce
                     * @memberof envoy.service.discovery.v3.DeltaDiscoveryRequest
                     * @instance
                     */
                    DeltaDiscoveryRequest.prototype.responseNonce = "";

                    /**
                     * DeltaDiscoveryRequest errorDetail.
                     * @member {google.rpc.Status.$Properties|null|undefined} errorDetail
                     * @memberof envoy.service.discovery.v3.DeltaDiscoveryRequest
                     * @instance
                     */
                    DeltaDiscoveryRequest.prototype.errorDetail = null;

                    /**
                     * Creates a new DeltaDiscoveryRequest instance using the specified properties.
                     * @function create
                     * @memberof envoy.service.discovery.v3.DeltaDiscoveryRequest
                     * @static
                     * @param {envoy.service.discovery.v3.DeltaDiscoveryRequest.$Properties=} [properties] Properties to set
                     * @returns {envoy.service.discovery.v3.DeltaDiscoveryRequest} DeltaDiscoveryRequest instance
                     * @type {{
                     *   (properties: envoy.service.discovery.v3.DeltaDiscoveryRequest.$Shape): envoy.service.discovery.v3.DeltaDiscoveryRequest & envoy.service.discovery.v3.DeltaDiscoveryRequest.$Shape;
                     *   (properties?: envoy.service.discovery.v3.DeltaDiscoveryRequest.$Properties): envoy.service.discovery.v3.DeltaDiscoveryRequest;
                     * }}
                     */
                    DeltaDiscoveryRequest.create = function(properties) {
                        return new DeltaDiscoveryRequest(properties);
                    };

                    /**
                     * Encodes the specified DeltaDiscoveryRequest message. Does not implicitly {@link envoy.service.discovery.v3.DeltaDiscoveryRequest.verify|verify} messages.
                     * @function encode
                     * @memberof envoy.service.discovery.v3.DeltaDiscoveryRequest
                     * @static
                     * @param {envoy.service.discovery.v3.DeltaDiscoveryRequest.$Properties} message DeltaDiscoveryRequest message or plain object to encode
                     * @param {$protobuf.Writer} [writer] Writer to encode to
                     * @returns {$protobuf.Writer} Writer
                     */
                    DeltaDiscoveryRequest.encode = function (message, writer, _depth) {
                        if (!writer)
                            writer = $Writer.create();
                        if (_depth === $undefined)
                            _depth = 0;
                        if (_depth > $util.recursionLimit)
                            throw $Error("max depth exceeded");
                        if (message.node != null && $Object.hasOwnProperty.call(message, "node"))
                            $root.envoy.config.core.v3.Node.encode(message.node, writer.uint32(/* id 1, wireType 2 =*/10).fork(), _depth + 1).ldelim();
                        if (message.typeUrl != null && $Object.hasOwnProperty.call(message, "typeUrl") && message.typeUrl !== "")
                            writer.uint32(/* id 2, wireType 2 =*/18).string(message.typeUrl);
                        if (message.resourceNamesSubscribe != null && message.resourceNamesSubscribe.length)
                            for (let i = 0; i < message.resourceNamesSubscribe.length; ++i)
                                writer.uint32(/* id 3, wireType 2 =*/26).string(message.resourceNamesSubscribe[i]);
                        if (message.resourceNamesUnsubscribe != null && message.resourceNamesUnsubscribe.length)
                            for (let i = 0; i < message.resourceNamesUnsubscribe.length; ++i)
                                writer.uint32(/* id 4, wireType 2 =*/34).string(message.resourceNamesUnsubscribe[i]);
                        if (message.initialResourceVersions != null && $Object.hasOwnProperty.call(message, "initialResourceVersions"))
                            for (let keys = $Object.keys(message.initialResourceVersions), i = 0; i < keys.length; ++i)
                                writer.uint32(/* id 5, wireType 2 =*/42).fork().uint32(/* id 1, wireType 2 =*/10).string(keys[i]).uint32(/* id 2, wireType 2 =*/18).string(message.initialResourceVersions[keys[i]]).ldelim();
                        if (message.responseNonce != null && $Object.hasOwnProperty.call(message, "responseNonce") && message.responseNonce !== "")
                            writer.uint32(/* id 6, wireType 2 =*/50).string(message.responseNonce);
                        if (message.errorDetail != null && $Object.hasOwnProperty.call(message, "errorDetail"))
                            $root.google.rpc.Status.encode(message.errorDetail, writer.uint32(/* id 7, wireType 2 =*/58).fork(), _depth + 1).ldelim();
                        if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                            for (let i = 0; i < message.$unknowns.length; ++i)
                                writer.raw(message.$unknowns[i]);
                        return writer;
                    };

                    /**
                     * Decodes a DeltaDiscoveryRequest message from the specified reader or buffer.
                     * @function decode
                     * @memberof envoy.service.discovery.v3.DeltaDiscoveryRequest
                     * @static
                     * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
                     * @param {number} [length] Message length if known beforehand
                     * @returns {envoy.service.discovery.v3.DeltaDiscoveryRequest & envoy.service.discovery.v3.DeltaDiscoveryRequest.$Shape} DeltaDiscoveryRequest
                     * @throws {Error} If the payload is not a reader or valid buffer
                     * @throws {$protobuf.util.ProtocolError} If required fields are missing
                     */
                    DeltaDiscoveryRequest.decode = function (reader, length, _end, _depth, _target) {
                        if (!(reader instanceof $Reader))
                            reader = $Reader.create(reader);
                        if (_depth === $undefined)
                            _depth = 0;
                        if (_depth > $Reader.recursionLimit)
                            throw $Error("max depth exceeded");
                        let end, message, key, value;
                        if (length === $undefined)
                            end = reader.len;
                        else {
                            end = reader.pos + length;
                            if (end > reader.len)
                                throw $RangeError("index out of range");
                            length = reader.len;
                            reader.len = end;
                        }
                        message = _target || new $root.envoy.service.discovery.v3.DeltaDiscoveryRequest();
                        while (reader.pos < end) {
                            let start = reader.pos;
                            let tag = reader.tag();
                            if (tag === _end) {
                                _end = $undefined;
                                break;
                            }
                            let wireType = tag & 7;
                            switch (tag >>>= 3) {
                            case 1: {
                                    if (wireType !== 2)
                                        break;
                                    message.node = $root.envoy.config.core.v3.Node.decode(reader, reader.size(), $undefined, _depth + 1, message.node);
                                    continue;
                                }
                            case 2: {
                                    if (wireType !== 2)
                                        break;
                                    if ((value = reader.stringVerify()).length)
                                        message.typeUrl = value;
                                    else
                                        delete message.typeUrl;
                                    continue;
                                }
                            case 3: {
                                    if (wireType !== 2)
                                        break;
                                    if (!(message.resourceNamesSubscribe && message.resourceNamesSubscribe.length))
                                        message.resourceNamesSubscribe = [];
                                    message.resourceNamesSubscribe.push(reader.stringVerify());
                                    continue;
                                }
                            case 4: {
                                    if (wireType !== 2)
                                        break;
                                    if (!(message.resourceNamesUnsubscribe && message.resourceNamesUnsubscribe.length))
                                        message.resourceNamesUnsubscribe = [];
                                    message.resourceNamesUnsubscribe.push(reader.stringVerify());
                                    continue;
                                }
                            case 5: {
                                    if (wireType !== 2)
                                        break;
                                    if (message.initialResourceVersions === $util.emptyObject)
                                        message.initialResourceVersions = {};
                                    let end2 = reader.size() + reader.pos;
                                    if (end2 > reader.len)
                                        throw $RangeError("index out of range");
                                    reader.len = end2;
                                    key = "";
                                    value = "";
                                    while (reader.pos < end2) {
                                        let tag2 = reader.tag();
                                        wireType = tag2 & 7;
                                        switch (tag2 >>>= 3) {
                                        case 1:
                                            if (wireType !== 2)
                                                break;
                                            key = reader.stringVerify();
                                            continue;
                                        case 2:
                                            if (wireType !== 2)
                                                break;
                                            value = reader.stringVerify();
                                            continue;
                                        }
                                        reader.skipType(wireType, _depth, tag2);
                                    }
                                    if (reader.pos !== end2)
                                        throw $RangeError("index out of range");
                                    reader.len = end;
                                    if (key === "__proto__")
                                        $util.makeProp(message.initialResourceVersions, key);
                                    message.initialResourceVersions[key] = value;
                                    continue;
                                }
                            case 6: {
                                    if (wireType !== 2)
                                        break;
                                    if ((value = reader.stringVerify()).length)
                                        message.responseNonce = value;
                                    else
                                        delete message.responseNonce;
                                    continue;
                                }
                            case 7: {
                                    if (wireType !== 2)
                                        break;
                                    message.errorDetail = $root.google.rpc.Status.decode(reader, reader.size(), $undefined, _depth + 1, message.errorDetail);
                                    continue;
                                }
                            }
                            reader.skipType(wireType, _depth, tag);
                            if (!reader.discardUnknown) {
                                $util.makeProp(message, "$unknowns", false);
                                (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                            }
                        }
                        if (length !== $undefined) {
                            if (reader.pos !== end)
                                throw $RangeError("index out of range");
                            reader.len = length;
                        }
                        if (_end !== $undefined)
                            throw $Error("missing end group");
                        return message;
                    };

                    /**
                     * Gets the type url for DeltaDiscoveryRequest
                     * @function getTypeUrl
                     * @memberof envoy.service.discovery.v3.DeltaDiscoveryRequest
                     * @static
                     * @param {string} [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                     * @returns {string} The type url
                     */
                    DeltaDiscoveryRequest.getTypeUrl = function(prefix) {
                        if (prefix === $undefined)
                            prefix = "type.googleapis.com";
                        return prefix + "/envoy.service.discovery.v3.DeltaDiscoveryRequest";
                    };

                    return DeltaDiscoveryRequest;
                })();

                v3.DeltaDiscoveryResponse = (function() {

                    /**
                     * Properties of a DeltaDiscoveryResponse.
                     * @typedef {Object} envoy.service.discovery.v3.DeltaDiscoveryResponse.$Properties
                     * @property {string|null} [systemVersionInfo] DeltaDiscoveryResponse systemVersionInfo
                     * @property {Array.<envoy.service.discovery.v3.Resource.$Properties>|null} [resources] DeltaDiscoveryResponse resources
                     * @property {string|null} [typeUrl] DeltaDiscoveryResponse typeUrl
                     * @property {string|null} [nonce] DeltaDiscoveryResponse nonce
                     * @property {Array.<string>|null} [removedResources] DeltaDiscoveryResponse removedResources
                     * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                     */

                    /**
                     * Properties of a DeltaDiscoveryResponse.
                     * @memberof envoy.service.discovery.v3
                     * @interface IDeltaDiscoveryResponse
                     * @augments envoy.service.discovery.v3.DeltaDiscoveryResponse.$Properties
                     * @deprecated Use envoy.service.discovery.v3.DeltaDiscoveryResponse.$Properties instead.
                     */

                    /**
                     * Shape of a DeltaDiscoveryResponse.
                     * @typedef {envoy.service.discovery.v3.DeltaDiscoveryResponse.$Properties} envoy.service.discovery.v3.DeltaDiscoveryResponse.$Shape
                     */

                    /**
                     * Constructs a new DeltaDiscoveryResponse.
                     * @memberof envoy.service.discovery.v3
                     * @classdesc Represents a DeltaDiscoveryResponse.
                     * @constructor
                     * @param {envoy.service.discovery.v3.DeltaDiscoveryResponse.$Properties=} [properties] Properties to set
                     * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                     */
                    const DeltaDiscoveryResponse = function (properties) {
                        this.resources = [];
                        this.removedResources = [];
                        if (properties)
                            for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                                if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                    this[keys[i]] = properties[keys[i]];
                    };

                    /**
                     * DeltaDiscoveryResponse systemVersionInfo.
                     * @member {string} systemVersionInfo
                     * @memberof envoy.service.discovery.v3.DeltaDiscoveryResponse
                     * @instance
                     */
                    DeltaDiscoveryResponse.prototype.systemVersionInfo = "";

                    /**
                     * DeltaDiscoveryResponse resources.
                     * @member {Array.<envoy.service.discovery.v3.Resource.$Properties>} resources
                     * @memberof envoy.service.discovery.v3.DeltaDiscoveryResponse
                     * @instance
                     */
                    DeltaDiscoveryResponse.prototype.resources = $util.emptyArray;

                    /**
                     * DeltaDiscoveryResponse typeUrl.
                     * @member {string} typeUrl
                     * @memberof envoy.service.discovery.v3.DeltaDiscoveryResponse
                     * @instance
                     */
                    DeltaDiscoveryResponse.prototype.typeUrl = "";

                    /**
                     * DeltaDiscoveryResponse nonce.
                     * @member {string} nonce
                     * @memberof envoy.service.discovery.v3.DeltaDiscoveryResponse
                     * @instance
                     */
                    DeltaDiscoveryResponse.prototype.nonce = "";

                    /**
                     * DeltaDiscoveryResponse removedResources.
                     * @member {Array.<string>} removedResources
                     * @memberof envoy.service.discovery.v3.DeltaDiscoveryResponse
                     * @instance
                     */
                    DeltaDiscoveryResponse.prototype.removedResources = $util.emptyArray;

                    /**
                     * Creates a new DeltaDiscoveryResponse instance using the specified properties.
                     * @function create
                     * @memberof envoy.service.discovery.v3.DeltaDiscoveryResponse
                     * @static
                     * @param {envoy.service.discovery.v3.DeltaDiscoveryResponse.$Properties=} [properties] Properties to set
                     * @returns {envoy.service.discovery.v3.DeltaDiscoveryResponse} DeltaDiscoveryResponse instance
                     * @type {{
                     *   (properties: envoy.service.discovery.v3.DeltaDiscoveryResponse.$Shape): envoy.service.discovery.v3.DeltaDiscoveryResponse & envoy.service.discovery.v3.DeltaDiscoveryResponse.$Shape;
                     *   (properties?: envoy.service.discovery.v3.DeltaDiscoveryResponse.$Properties): envoy.service.discovery.v3.DeltaDiscoveryResponse;
                     * }}
                     */
                    DeltaDiscoveryResponse.create = function(properties) {
                        return new DeltaDiscoveryResponse(properties);
                    };

                    /**
                     * Encodes the specified DeltaDiscoveryResponse message. Does not implicitly {@link envoy.service.discovery.v3.DeltaDiscoveryResponse.verify|verify} messages.
                     * @function encode
                     * @memberof envoy.service.discovery.v3.DeltaDiscoveryResponse
                     * @static
                     * @param {envoy.service.discovery.v3.DeltaDiscoveryResponse.$Properties} message DeltaDiscoveryResponse message or plain object to encode
                     * @param {$protobuf.Writer} [writer] Writer to encode to
                     * @returns {$protobuf.Writer} Writer
                     */
                    DeltaDiscoveryResponse.encode = function (message, writer, _depth) {
                        if (!writer)
                            writer = $Writer.create();
                        if (_depth === $undefined)
                            _depth = 0;
                        if (_depth > $util.recursionLimit)
                            throw $Error("max depth exceeded");
                        if (message.systemVersionInfo != null && $Object.hasOwnProperty.call(message, "systemVersionInfo") && message.systemVersionInfo !== "")
                            writer.uint32(/* id 1, wireType 2 =*/10).string(message.systemVersionInfo);
                        if (message.resources != null && message.resources.length)
                            for (let i = 0; i < message.resources.length; ++i)
                                $root.envoy.service.discovery.v3.Resource.encode(message.resources[i], writer.uint32(/* id 2, wireType 2 =*/18).fork(), _depth + 1).ldelim();
                        if (message.typeUrl != null && $Object.hasOwnProperty.call(message, "typeUrl") && message.typeUrl !== "")
                            writer.uint32(/* id 4, wireType 2 =*/34).string(message.typeUrl);
                        if (message.nonce != null && $Object.hasOwnProperty.call(message, "nonce") && message.nonce !== "")
                            writer.uint32(/* id 5, wireType 2 =*/42).string(message.nonce);
                        if (message.removedResources != null && message.removedResources.length)
                            for (let i = 0; i < message.removedResources.length; ++i)
                                writer.uint32(/* id 6, wireType 2 =*/50).string(message.removedResources[i]);
                        if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                            for (let i = 0; i < message.$unknowns.length; ++i)
                                writer.raw(message.$unknowns[i]);
                        return writer;
                    };

                    /**
                     * Decodes a DeltaDiscoveryResponse message from the specified reader or buffer.
                     * @function decode
                     * @memberof envoy.service.discovery.v3.DeltaDiscoveryResponse
                     * @static
                     * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
                     * @param {number} [length] Message length if known beforehand
                     * @returns {envoy.service.discovery.v3.DeltaDiscoveryResponse & envoy.service.discovery.v3.DeltaDiscoveryResponse.$Shape} DeltaDiscoveryResponse
                     * @throws {Error} If the payload is not a reader or valid buffer
                     * @throws {$protobuf.util.ProtocolError} If required fields are missing
                     */
                    DeltaDiscoveryResponse.decode = function (reader, length, _end, _depth, _target) {
                        if (!(reader instanceof $Reader))
                            reader = $Reader.create(reader);
                        if (_depth === $undefined)
                            _depth = 0;
                        if (_depth > $Reader.recursionLimit)
                            throw $Error("max depth exceeded");
                        let end, message, value;
                        if (length === $undefined)
                            end = reader.len;
                        else {
                            end = reader.pos + length;
                            if (end > reader.len)
                                throw $RangeError("index out of range");
                            length = reader.len;
                            reader.len = end;
                        }
                        message = _target || new $root.envoy.service.discovery.v3.DeltaDiscoveryResponse();
                        while (reader.pos < end) {
                            let start = reader.pos;
                            let tag = reader.tag();
                            if (tag === _end) {
                                _end = $undefined;
                                break;
                            }
                            let wireType = tag & 7;
                            switch (tag >>>= 3) {
                            case 1: {
                                    if (wireType !== 2)
                                        break;
                                    if ((value = reader.stringVerify()).length)
                                        message.systemVersionInfo = value;
                                    else
                                        delete message.systemVersionInfo;
                                    continue;
                                }
                            case 2: {
                                    if (wireType !== 2)
                                        break;
                                    if (!(message.resources && message.resources.length))
                                        message.resources = [];
                                    message.resources.push($root.envoy.service.discovery.v3.Resource.decode(reader, reader.size(), $undefined, _depth + 1));
                                    continue;
                                }
                            case 4: {
                                    if (wireType !== 2)
                                        break;
                                    if ((value = reader.stringVerify()).length)
                                        message.typeUrl = value;
                                    else
                                        delete message.typeUrl;
                                    continue;
                                }
                            case 5: {
                                    if (wireType !== 2)
                                        break;
                                    if ((value = reader.stringVerify()).length)
                                        message.nonce = value;
                                    else
                                        delete message.nonce;
                                    continue;
                                }
                            case 6: {
                                    if (wireType !== 2)
                                        break;
                                    if (!(message.removedResources && message.removedResources.length))
                                        message.removedResources = [];
                                    message.removedResources.push(reader.stringVerify());
                                    continue;
                                }
                            }
                            reader.skipType(wireType, _depth, tag);
                            if (!reader.discardUnknown) {
                                $util.makeProp(message, "$unknowns", false);
                                (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                            }
                        }
                        if (length !== $undefined) {
                            if (reader.pos !== end)
                                throw $RangeError("index out of range");
                            reader.len = length;
                        }
                        if (_end !== $undefined)
                            throw $Error("missing end group");
                        return message;
                    };

                    /**
                     * Gets the type url for DeltaDiscoveryResponse
                     * @function getTypeUrl
                     * @memberof envoy.service.discovery.v3.DeltaDiscoveryResponse
                     * @static
                     * @param {string} [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                     * @returns {string} The type url
                     */
                    DeltaDiscoveryResponse.getTypeUrl = function(prefix) {
                        if (prefix === $undefined)
                            prefix = "type.googleapis.com";
                        return prefix + "/envoy.service.discovery.v3.DeltaDiscoveryResponse";
                    };

                    return DeltaDiscoveryResponse;
                })();

                v3.Resource = (function() {

                    /**
                     * Properties of a Resource.
                     * @typedef {Object} envoy.service.discovery.v3.Resource.$Properties
                     * @property {string|null} [version] Resource version
                     * @property {google.protobuf.Any.$Properties|null} [resource] Resource resource
                     * @property {string|null} [name] Resource name
                     * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                     */

                    /**
                     * Properties of a Resource.
                     * @memberof envoy.service.discovery.v3
                     * @interface IResource
                     * @augments envoy.service.discovery.v3.Resource.$Properties
                     * @deprecated Use envoy.service.discovery.v3.Resource.$Properties instead.
                     */

                    /**
                     * Shape of a Resource.
                     * @typedef {envoy.service.discovery.v3.Resource.$Properties} envoy.service.discovery.v3.Resource.$Shape
                     */

                    /**
                     * Constructs a new Resource.
                     * @memberof envoy.service.discovery.v3
                     * @classdesc Represents a Resource.
                     * @constructor
                     * @param {envoy.service.discovery.v3.Resource.$Properties=} [properties] Properties to set
                     * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                     */
                    const Resource = function (properties) {
                        if (properties)
                            for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                                if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                    this[keys[i]] = properties[keys[i]];
                    };

                    /**
                     * Resource version.
                     * @member {string} version
                     * @memberof envoy.service.discovery.v3.Resource
                     * @instance
                     */
                    Resource.prototype.version = "";

                    /**
                     * Resource resource.
                     * @member {google.protobuf.Any.$Properties|null|undefined} resource
                     * @memberof envoy.service.discovery.v3.Resource
                     * @instance
                     */
                    Resource.prototype.resource = null;

                    /**
                     * Resource name.
                     * @member {string} name
                     * @memberof envoy.service.discovery.v3.Resource
                     * @instance
                     */
                    Resource.prototype.name = "";

                    /**
                     * Creates a new Resource instance using the specified properties.
                     * @function create
                     * @memberof envoy.service.discovery.v3.Resource
                     * @static
                     * @param {envoy.service.discovery.v3.Resource.$Properties=} [properties] Properties to set
                     * @returns {envoy.service.discovery.v3.Resource} Resource instance
                     * @type {{
                     *   (properties: envoy.service.discovery.v3.Resource.$Shape): envoy.service.discovery.v3.Resource & envoy.service.discovery.v3.Resource.$Shape;
                     *   (properties?: envoy.service.discovery.v3.Resource.$Properties): envoy.service.discovery.v3.Resource;
                     * }}
                     */
                    Resource.create = function(properties) {
                        return new Resource(properties);
                    };

                    /**
                     * Encodes the specified Resource message. Does not implicitly {@link envoy.service.discovery.v3.Resource.verify|verify} messages.
                     * @function encode
                     * @memberof envoy.service.discovery.v3.Resource
                     * @static
                     * @param {envoy.service.discovery.v3.Resource.$Properties} message Resource message or plain object to encode
                     * @param {$protobuf.Writer} [writer] Writer to encode to
                     * @returns {$protobuf.Writer} Writer
                     */
                    Resource.encode = function (message, writer, _depth) {
                        if (!writer)
                            writer = $Writer.create();
                        if (_depth === $undefined)
                            _depth = 0;
                        if (_depth > $util.recursionLimit)
                            throw $Error("max depth exceeded");
                        if (message.version != null && $Object.hasOwnProperty.call(message, "version") && message.version !== "")
                            writer.uint32(/* id 1, wireType 2 =*/10).string(message.version);
                        if (message.resource != null && $Object.hasOwnProperty.call(message, "resource"))
                            $root.google.protobuf.Any.encode(message.resource, writer.uint32(/* id 2, wireType 2 =*/18).fork(), _depth + 1).ldelim();
                        if (message.name != null && $Object.hasOwnProperty.call(message, "name") && message.name !== "")
                            writer.uint32(/* id 3, wireType 2 =*/26).string(message.name);
                        if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                            for (let i = 0; i < message.$unknowns.length; ++i)
                                writer.raw(message.$unknowns[i]);
                        return writer;
                    };

                    /**
                     * Decodes a Resource message from the specified reader or buffer.
                     * @function decode
                     * @memberof envoy.service.discovery.v3.Resource
                     * @static
                     * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
                     * @param {number} [length] Message length if known beforehand
                     * @returns {envoy.service.discovery.v3.Resource & envoy.service.discovery.v3.Resource.$Shape} Resource
                     * @throws {Error} If the payload is not a reader or valid buffer
                     * @throws {$protobuf.util.ProtocolError} If required fields are missing
                     */
                    Resource.decode = function (reader, length, _end, _depth, _target) {
                        if (!(reader instanceof $Reader))
                            reader = $Reader.create(reader);
                        if (_depth === $undefined)
                            _depth = 0;
                        if (_depth > $Reader.recursionLimit)
                            throw $Error("max depth exceeded");
                        let end, message, value;
                        if (length === $undefined)
                            end = reader.len;
                        else {
                            end = reader.pos + length;
                            if (end > reader.len)
                                throw $RangeError("index out of range");
                            length = reader.len;
                            reader.len = end;
                        }
                        message = _target || new $root.envoy.service.discovery.v3.Resource();
                        while (reader.pos < end) {
                            let start = reader.pos;
                            let tag = reader.tag();
                            if (tag === _end) {
                                _end = $undefined;
                                break;
                            }
                            let wireType = tag & 7;
                            switch (tag >>>= 3) {
                            case 1: {
                                    if (wireType !== 2)
                                        break;
                                    if ((value = reader.stringVerify()).length)
                                        message.version = value;
                                    else
                                        delete message.version;
                                    continue;
                                }
                            case 2: {
                                    if (wireType !== 2)
                                        break;
                                    message.resource = $root.google.protobuf.Any.decode(reader, reader.size(), $undefined, _depth + 1, message.resource);
                                    continue;
                                }
                            case 3: {
                                    if (wireType !== 2)
                                        break;
                                    if ((value = reader.stringVerify()).length)
                                        message.name = value;
                                    else
                                        delete message.name;
                                    continue;
                                }
                            }
                            reader.skipType(wireType, _depth, tag);
                            if (!reader.discardUnknown) {
                                $util.makeProp(message, "$unknowns", false);
                                (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                            }
                        }
                        if (length !== $undefined) {
                            if (reader.pos !== end)
                                throw $RangeError("index out of range");
                            reader.len = length;
                        }
                        if (_end !== $undefined)
                            throw $Error("missing end group");
                        return message;
                    };

                    /**
                     * Gets the type url for Resource
                     * @function getTypeUrl
                     * @memberof envoy.service.discovery.v3.Resource
                     * @static
                     * @param {string} [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                     * @returns {string} The type url
                     */
                    Resource.getTypeUrl = function(prefix) {
                        if (prefix === $undefined)
                            prefix = "type.googleapis.com";
                        return prefix + "/envoy.service.discovery.v3.Resource";
                    };

                    return Resource;
                })();

                return v3;
            })();

            return discovery;
        })();

        return service;
    })();

    envoy.extensions = (function() {

        /**
         * Namespace extensions.
         * @memberof envoy
         * @namespace
         */
        const extensions = {};

        extensions.transport_sockets = (function() {

            /**
             * Namespace transport_sockets.
             * @memberof envoy.extensions
             * @namespace
             */
            const transport_sockets = {};

            transport_sockets.tls = (function() {

                /**
                 * Namespace tls.
                 * @memberof envoy.extensions.transport_sockets
                 * @namespace
                 */
                const tls = {};

                tls.v3 = (function() {

                    /**
                     * Namespace v3.
                     * @memberof envoy.extensions.transport_sockets.tls
                     * @namespace
                     */
                    const v3 = {};

                    v3.Secret = (function() {

                        /**
                         * Properties of a Secret.
                         * @typedef {Object} envoy.extensions.transport_sockets.tls.v3.Secret.$Properties
                         * @property {string|null} [name] Secret name
                         * @property {envoy.extensions.transport_sockets.tls.v3.TlsCertificate.$Properties|null} [tlsCertificate] Secret tlsCertificate
                         * @property {envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.$Properties|null} [validationContext] Secret validationContext
                         * @property {"tlsCertificate"|"validationContext"} [type] Secret type
                         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                         */

                        /**
                         * Properties of a Secret.
                         * @memberof envoy.extensions.transport_sockets.tls.v3
                         * @interface ISecret
                         * @augments envoy.extensions.transport_sockets.tls.v3.Secret.$Properties
                         * @deprecated Use envoy.extensions.transport_sockets.tls.v3.Secret.$Properties instead.
                         */

                        /**
                         * Narrowed shape of a Secret.
                         * @typedef {{
                         *   name?: string|null;
                         *   tlsCertificate?: envoy.extensions.transport_sockets.tls.v3.TlsCertificate.$Shape|null;
                         *   validationContext?: envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.$Shape|null;
                         *   $unknowns?: Array.<Uint8Array>;
                         * } & (
                         *   ({ type?: undefined; tlsCertificate?: null; validationContext?: null }|{ type?: "tlsCertificate"; tlsCertificate: envoy.extensions.transport_sockets.tls.v3.TlsCertificate.$Shape; validationContext?: null }|{ type?: "validationContext"; tlsCertificate?: null; validationContext: envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.$Shape })
                         * )} envoy.extensions.transport_sockets.tls.v3.Secret.$Shape
                         */

                        /**
                         * Constructs a new Secret.
                         * @memberof envoy.extensions.transport_sockets.tls.v3
                         * @classdesc Represents a Secret.
                         * @constructor
                         * @param {envoy.extensions.transport_sockets.tls.v3.Secret.$Properties=} [properties] Properties to set
                         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                         */
                        const Secret = function (properties) {
                            if (properties)
                                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                        this[keys[i]] = properties[keys[i]];
                        };

                        /**
                         * Secret name.
                         * @member {string} name
                         * @memberof envoy.extensions.transport_sockets.tls.v3.Secret
                         * @instance
                         */
                        Secret.prototype.name = "";

                        /**
                         * Secret tlsCertificate.
                         * @member {envoy.extensions.transport_sockets.tls.v3.TlsCertificate.$Properties|null|undefined} tlsCertificate
                         * @memberof envoy.extensions.transport_sockets.tls.v3.Secret
                         * @instance
                         */
                        Secret.prototype.tlsCertificate = null;

                        /**
                         * Secret validationContext.
                         * @member {envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.$Properties|null|undefined} validationContext
                         * @memberof envoy.extensions.transport_sockets.tls.v3.Secret
                         * @instance
                         */
                        Secret.prototype.validationContext = null;

                        // OneOf field names bound to virtual getters and setters
                        let $oneOfFields;

                        /**
                         * Secret type.
                         * @member {"tlsCertificate"|"validationContext"|undefined} type
                         * @memberof envoy.extensions.transport_sockets.tls.v3.Secret
                         * @instance
                         */
                        $Object.defineProperty(Secret.prototype, "type", {
                            get: $util.oneOfGetter($oneOfFields = ["tlsCertificate", "validationContext"]),
                            set: $util.oneOfSetter($oneOfFields)
                        });

                        /**
                         * Creates a new Secret instance using the specified properties.
                         * @function create
                         * @memberof envoy.extensions.transport_sockets.tls.v3.Secret
                         * @static
                         * @param {envoy.extensions.transport_sockets.tls.v3.Secret.$Properties=} [properties] Properties to set
                         * @returns {envoy.extensions.transport_sockets.tls.v3.Secret} Secret instance
                         * @type {{
                         *   (properties: envoy.extensions.transport_sockets.tls.v3.Secret.$Shape): envoy.extensions.transport_sockets.tls.v3.Secret & envoy.extensions.transport_sockets.tls.v3.Secret.$Shape;
                         *   (properties?: envoy.extensions.transport_sockets.tls.v3.Secret.$Properties): envoy.extensions.transport_sockets.tls.v3.Secret;
                         * }}
                         */
                        Secret.create = function(properties) {
                            return new Secret(properties);
                        };

                        /**
                         * Encodes the specified Secret message. Does not implicitly {@link envoy.extensions.transport_sockets.tls.v3.Secret.verify|verify} messages.
                         * @function encode
                         * @memberof envoy.extensions.transport_sockets.tls.v3.Secret
                         * @static
                         * @param {envoy.extensions.transport_sockets.tls.v3.Secret.$Properties} message Secret message or plain object to encode
                         * @param {$protobuf.Writer} [writer] Writer to encode to
                         * @returns {$protobuf.Writer} Writer
                         */
                        Secret.encode = function (message, writer, _depth) {
                            if (!writer)
                                writer = $Writer.create();
                            if (_depth === $undefined)
                                _depth = 0;
                            if (_depth > $util.recursionLimit)
                                throw $Error("max depth exceeded");
                            if (message.name != null && $Object.hasOwnProperty.call(message, "name") && message.name !== "")
                                writer.uint32(/* id 1, wireType 2 =*/10).string(message.name);
                            if (message.tlsCertificate != null && $Object.hasOwnProperty.call(message, "tlsCertificate"))
                                $root.envoy.extensions.transport_sockets.tls.v3.TlsCertificate.encode(message.tlsCertificate, writer.uint32(/* id 2, wireType 2 =*/18).fork(), _depth + 1).ldelim();
                            if (message.validationContext != null && $Object.hasOwnProperty.call(message, "validationContext"))
                                $root.envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.encode(message.validationContext, writer.uint32(/* id 4, wireType 2 =*/34).fork(), _depth + 1).ldelim();
                            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                                for (let i = 0; i < message.$unknowns.length; ++i)
                                    writer.raw(message.$unknowns[i]);
                            return writer;
                        };

                        /**
                         * Decodes a Secret message from the specified reader or buffer.
                         * @function decode
                         * @memberof envoy.extensions.transport_sockets.tls.v3.Secret
                         * @static
                         * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
                         * @param {number} [length] Message length if known beforehand
                         * @returns {envoy.extensions.transport_sockets.tls.v3.Secret & envoy.extensions.transport_sockets.tls.v3.Secret.$Shape} Secret
                         * @throws {Error} If the payload is not a reader or valid buffer
                         * @throws {$protobuf.util.ProtocolError} If required fields are missing
                         */
                        Secret.decode = function (reader, length, _end, _depth, _target) {
                            if (!(reader instanceof $Reader))
                                reader = $Reader.create(reader);
                            if (_depth === $undefined)
                                _depth = 0;
                            if (_depth > $Reader.recursionLimit)
                                throw $Error("max depth exceeded");
                            let end, message, value;
                            if (length === $undefined)
                                end = reader.len;
                            else {
                                end = reader.pos + length;
                                if (end > reader.len)
                                    throw $RangeError("index out of range");
                                length = reader.len;
                                reader.len = end;
                            }
                            message = _target || new $root.envoy.extensions.transport_sockets.tls.v3.Secret();
                            while (reader.pos < end) {
                                let start = reader.pos;
                                let tag = reader.tag();
                                if (tag === _end) {
                                    _end = $undefined;
                                    break;
                                }
                                let wireType = tag & 7;
                                switch (tag >>>= 3) {
                                case 1: {
                                        if (wireType !== 2)
                                            break;
                                        if ((value = reader.stringVerify()).length)
                                            message.name = value;
                                        else
                                            delete message.name;
                                        continue;
                                    }
                                case 2: {
                                        if (wireType !== 2)
                                            break;
                                        message.tlsCertificate = $root.envoy.extensions.transport_sockets.tls.v3.TlsCertificate.decode(reader, reader.size(), $undefined, _depth + 1, message.tlsCertificate);
                                        message.type = "tlsCertificate";
                                        continue;
                                    }
                                case 4: {
                                        if (wireType !== 2)
                                            break;
                                        message.validationContext = $root.envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.decode(reader, reader.size(), $undefined, _depth + 1, message.validationContext);
                                        message.type = "validationContext";
                                        continue;
                                    }
                                }
                                reader.skipType(wireType, _depth, tag);
                                if (!reader.discardUnknown) {
                                    $util.makeProp(message, "$unknowns", false);
                                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                                }
                            }
                            if (length !== $undefined) {
                                if (reader.pos !== end)
                                    throw $RangeError("index out of range");
                                reader.len = length;
                            }
                            if (_end !== $undefined)
                                throw $Error("missing end group");
                            return message;
                        };

                        /**
                         * Gets the type url for Secret
                         * @function getTypeUrl
                         * @memberof envoy.extensions.transport_sockets.tls.v3.Secret
                         * @static
                         * @param {string} [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                         * @returns {string} The type url
                         */
                        Secret.getTypeUrl = function(prefix) {
                            if (prefix === $undefined)
                                prefix = "type.googleapis.com";
                            return prefix + "/envoy.extensions.transport_sockets.tls.v3.Secret";
                        };

                        return Secret;
                    })();

                    v3.TlsCertificate = (function() {

                        /**
                         * Properties of a TlsCertificate.
                         * @typedef {Object} envoy.extensions.transport_sockets.tls.v3.TlsCertificate.$Properties
                         * @property {envoy.config.core.v3.DataSource.$Properties|null} [certificateChain] TlsCertificate certificateChain
                         * @property {envoy.config.core.v3.DataSource.$Properties|null} [privateKey] TlsCertificate privateKey
                         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                         */

                        /**
                         * Properties of a TlsCertificate.
                         * @memberof envoy.extensions.transport_sockets.tls.v3
                         * @interface ITlsCertificate
                         * @augments envoy.extensions.transport_sockets.tls.v3.TlsCertificate.$Properties
                         * @deprecated Use envoy.extensions.transport_sockets.tls.v3.TlsCertificate.$Properties instead.
                         */

                        /**
                         * Shape of a TlsCertificate.
                         * @typedef {{
                         *   certificateChain?: envoy.config.core.v3.DataSource.$Shape|null;
                         *   privateKey?: envoy.config.core.v3.DataSource.$Shape|null;
                         *   $unknowns?: Array.<Uint8Array>;
                         * }} envoy.extensions.transport_sockets.tls.v3.TlsCertificate.$Shape
                         */

                        /**
                         * Constructs a new TlsCertificate.
                         * @memberof envoy.extensions.transport_sockets.tls.v3
                         * @classdesc Represents a TlsCertificate.
                         * @constructor
                         * @param {envoy.extensions.transport_sockets.tls.v3.TlsCertificate.$Properties=} [properties] Properties to set
                         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                         */
                        const TlsCertificate = function (properties) {
                            if (properties)
                                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                        this[keys[i]] = properties[keys[i]];
                        };

                        /**
                         * TlsCertificate certificateChain.
                         * @member {envoy.config.core.v3.DataSource.$Properties|null|undefined} certificateChain
                         * @memberof envoy.extensions.transport_sockets.tls.v3.TlsCertificate
                         * @instance
                         */
                        TlsCertificate.prototype.certificateChain = null;

                        /**
                         * TlsCertificate privateKey.
                         * @member {envoy.config.core.v3.DataSource.$Properties|null|undefined} privateKey
                         * @memberof envoy.extensions.transport_sockets.tls.v3.TlsCertificate
                         * @instance
                         */
                        TlsCertificate.prototype.privateKey = null;

                        /**
                         * Creates a new TlsCertificate instance using the specified properties.
                         * @function create
                         * @memberof envoy.extensions.transport_sockets.tls.v3.TlsCertificate
                         * @static
                         * @param {envoy.extensions.transport_sockets.tls.v3.TlsCertificate.$Properties=} [properties] Properties to set
                         * @returns {envoy.extensions.transport_sockets.tls.v3.TlsCertificate} TlsCertificate instance
                         * @type {{
                         *   (properties: envoy.extensions.transport_sockets.tls.v3.TlsCertificate.$Shape): envoy.extensions.transport_sockets.tls.v3.TlsCertificate & envoy.extensions.transport_sockets.tls.v3.TlsCertificate.$Shape;
                         *   (properties?: envoy.extensions.transport_sockets.tls.v3.TlsCertificate.$Properties): envoy.extensions.transport_sockets.tls.v3.TlsCertificate;
                         * }}
                         */
                        TlsCertificate.create = function(properties) {
                            return new TlsCertificate(properties);
                        };

                        /**
                         * Encodes the specified TlsCertificate message. Does not implicitly {@link envoy.extensions.transport_sockets.tls.v3.TlsCertificate.verify|verify} messages.
                         * @function encode
                         * @memberof envoy.extensions.transport_sockets.tls.v3.TlsCertificate
                         * @static
                         * @param {envoy.extensions.transport_sockets.tls.v3.TlsCertificate.$Properties} message TlsCertificate message or plain object to encode
                         * @param {$protobuf.Writer} [writer] Writer to encode to
                         * @returns {$protobuf.Writer} Writer
                         */
                        TlsCertificate.encode = function (message, writer, _depth) {
                            if (!writer)
                                writer = $Writer.create();
                            if (_depth === $undefined)
                                _depth = 0;
                            if (_depth > $util.recursionLimit)
                                throw $Error("max depth exceeded");
                            if (message.certificateChain != null && $Object.hasOwnProperty.call(message, "certificateChain"))
                                $root.envoy.config.core.v3.DataSource.encode(message.certificateChain, writer.uint32(/* id 1, wireType 2 =*/10).fork(), _depth + 1).ldelim();
                            if (message.privateKey != null && $Object.hasOwnProperty.call(message, "privateKey"))
                                $root.envoy.config.core.v3.DataSource.encode(message.privateKey, writer.uint32(/* id 2, wireType 2 =*/18).fork(), _depth + 1).ldelim();
                            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                                for (let i = 0; i < message.$unknowns.length; ++i)
                                    writer.raw(message.$unknowns[i]);
                            return writer;
                        };

                        /**
                         * Decodes a TlsCertificate message from the specified reader or buffer.
                         * @function decode
                         * @memberof envoy.extensions.transport_sockets.tls.v3.TlsCertificate
                         * @static
                         * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
                         * @param {number} [length] Message length if known beforehand
                         * @returns {envoy.extensions.transport_sockets.tls.v3.TlsCertificate & envoy.extensions.transport_sockets.tls.v3.TlsCertificate.$Shape} TlsCertificate
                         * @throws {Error} If the payload is not a reader or valid buffer
                         * @throws {$protobuf.util.ProtocolError} If required fields are missing
                         */
                        TlsCertificate.decode = function (reader, length, _end, _depth, _target) {
                            if (!(reader instanceof $Reader))
                                reader = $Reader.create(reader);
                            if (_depth === $undefined)
                                _depth = 0;
                            if (_depth > $Reader.recursionLimit)
                                throw $Error("max depth exceeded");
                            let end, message, value;
                            if (length === $undefined)
                                end = reader.len;
                            else {
                                end = reader.pos + length;
                                if (end > reader.len)
                                    throw $RangeError("index out of range");
                                length = reader.len;
                                reader.len = end;
                            }
                            message = _target || new $root.envoy.extensions.transport_sockets.tls.v3.TlsCertificate();
                            while (reader.pos < end) {
                                let start = reader.pos;
                                let tag = reader.tag();
                                if (tag === _end) {
                                    _end = $undefined;
                                    break;
                                }
                                let wireType = tag & 7;
                                switch (tag >>>= 3) {
                                case 1: {
                                        if (wireType !== 2)
                                            break;
                                        message.certificateChain = $root.envoy.config.core.v3.DataSource.decode(reader, reader.size(), $undefined, _depth + 1, message.certificateChain);
                                        continue;
                                    }
                                case 2: {
                                        if (wireType !== 2)
                                            break;
                                        message.privateKey = $root.envoy.config.core.v3.DataSource.decode(reader, reader.size(), $undefined, _depth + 1, message.privateKey);
                                        continue;
                                    }
                                }
                                reader.skipType(wireType, _depth, tag);
                                if (!reader.discardUnknown) {
                                    $util.makeProp(message, "$unknowns", false);
                                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                                }
                            }
                            if (length !== $undefined) {
                                if (reader.pos !== end)
                                    throw $RangeError("index out of range");
                                reader.len = length;
                            }
                            if (_end !== $undefined)
                                throw $Error("missing end group");
                            return message;
                        };

                        /**
                         * Gets the type url for TlsCertificate
                         * @function getTypeUrl
                         * @memberof envoy.extensions.transport_sockets.tls.v3.TlsCertificate
                         * @static
                         * @param {string} [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                         * @returns {string} The type url
                         */
                        TlsCertificate.getTypeUrl = function(prefix) {
                            if (prefix === $undefined)
                                prefix = "type.googleapis.com";
                            return prefix + "/envoy.extensions.transport_sockets.tls.v3.TlsCertificate";
                        };

                        return TlsCertificate;
                    })();

                    v3.CertificateValidationContext = (function() {

                        /**
                         * Properties of a CertificateValidationContext.
                         * @typedef {Object} envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.$Properties
                         * @property {envoy.config.core.v3.DataSource.$Properties|null} [trustedCa] CertificateValidationContext trustedCa
                         * @property {envoy.config.core.v3.TypedExtensionConfig.$Properties|null} [customValidatorConfig] CertificateValidationContext customValidatorConfig
                         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                         */

                        /**
                         * Properties of a CertificateValidationContext.
                         * @memberof envoy.extensions.transport_sockets.tls.v3
                         * @interface ICertificateValidationContext
                         * @augments envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.$Properties
                         * @deprecated Use envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.$Properties instead.
                         */

                        /**
                         * Shape of a CertificateValidationContext.
                         * @typedef {{
                         *   trustedCa?: envoy.config.core.v3.DataSource.$Shape|null;
                         *   customValidatorConfig?: envoy.config.core.v3.TypedExtensionConfig.$Shape|null;
                         *   $unknowns?: Array.<Uint8Array>;
                         * }} envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.$Shape
                         */

                        /**
                         * Constructs a new CertificateValidationContext.
                         * @memberof envoy.extensions.transport_sockets.tls.v3
                         * @classdesc Represents a CertificateValidationContext.
                         * @constructor
                         * @param {envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.$Properties=} [properties] Properties to set
                         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                         */
                        const CertificateValidationContext = function (properties) {
                            if (properties)
                                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                        this[keys[i]] = properties[keys[i]];
                        };

                        /**
                         * CertificateValidationContext trustedCa.
                         * @member {envoy.config.core.v3.DataSource.$Properties|null|undefined} trustedCa
                         * @memberof envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext
                         * @instance
                         */
                        CertificateValidationContext.prototype.trustedCa = null;

                        /**
                         * CertificateValidationContext customValidatorConfig.
                         * @member {envoy.config.core.v3.TypedExtensionConfig.$Properties|null|undefined} customValidatorConfig
                         * @memberof envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext
                         * @instance
                         */
                        CertificateValidationContext.prototype.customValidatorConfig = null;

                        /**
                         * Creates a new CertificateValidationContext instance using the specified properties.
                         * @function create
                         * @memberof envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext
                         * @static
                         * @param {envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.$Properties=} [properties] Properties to set
                         * @returns {envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext} CertificateValidationContext instance
                         * @type {{
                         *   (properties: envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.$Shape): envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext & envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.$Shape;
                         *   (properties?: envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.$Properties): envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext;
                         * }}
                         */
                        CertificateValidationContext.create = function(properties) {
                            return new CertificateValidationContext(properties);
                        };

                        /**
                         * Encodes the specified CertificateValidationContext message. Does not implicitly {@link envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.verify|verify} messages.
                         * @function encode
                         * @memberof envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext
                         * @static
                         * @param {envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.$Properties} message CertificateValidationContext message or plain object to encode
                         * @param {$protobuf.Writer} [writer] Writer to encode to
                         * @returns {$protobuf.Writer} Writer
                         */
                        CertificateValidationContext.encode = function (message, writer, _depth) {
                            if (!writer)
                                writer = $Writer.create();
                            if (_depth === $undefined)
                                _depth = 0;
                            if (_depth > $util.recursionLimit)
                                throw $Error("max depth exceeded");
                            if (message.trustedCa != null && $Object.hasOwnProperty.call(message, "trustedCa"))
                                $root.envoy.config.core.v3.DataSource.encode(message.trustedCa, writer.uint32(/* id 1, wireType 2 =*/10).fork(), _depth + 1).ldelim();
                            if (message.customValidatorConfig != null && $Object.hasOwnProperty.call(message, "customValidatorConfig"))
                                $root.envoy.config.core.v3.TypedExtensionConfig.encode(message.customValidatorConfig, writer.uint32(/* id 12, wireType 2 =*/98).fork(), _depth + 1).ldelim();
                            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                                for (let i = 0; i < message.$unknowns.length; ++i)
                                    writer.raw(message.$unknowns[i]);
                            return writer;
                        };

                        /**
                         * Decodes a CertificateValidationContext message from the specified reader or buffer.
                         * @function decode
                         * @memberof envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext
                         * @static
                         * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
                         * @param {number} [length] Message length if known beforehand
                         * @returns {envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext & envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.$Shape} CertificateValidationContext
                         * @throws {Error} If the payload is not a reader or valid buffer
                         * @throws {$protobuf.util.ProtocolError} If required fields are missing
                         */
                        CertificateValidationContext.decode = function (reader, length, _end, _depth, _target) {
                            if (!(reader instanceof $Reader))
                                reader = $Reader.create(reader);
                            if (_depth === $undefined)
                                _depth = 0;
                            if (_depth > $Reader.recursionLimit)
                                throw $Error("max depth exceeded");
                            let end, message, value;
                            if (length === $undefined)
                                end = reader.len;
                            else {
                                end = reader.pos + length;
                                if (end > reader.len)
                                    throw $RangeError("index out of range");
                                length = reader.len;
                                reader.len = end;
                            }
                            message = _target || new $root.envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext();
                            while (reader.pos < end) {
                                let start = reader.pos;
                                let tag = reader.tag();
                                if (tag === _end) {
                                    _end = $undefined;
                                    break;
                                }
                                let wireType = tag & 7;
                                switch (tag >>>= 3) {
                                case 1: {
                                        if (wireType !== 2)
                                            break;
                                        message.trustedCa = $root.envoy.config.core.v3.DataSource.decode(reader, reader.size(), $undefined, _depth + 1, message.trustedCa);
                                        continue;
                                    }
                                case 12: {
                                        if (wireType !== 2)
                                            break;
                                        message.customValidatorConfig = $root.envoy.config.core.v3.TypedExtensionConfig.decode(reader, reader.size(), $undefined, _depth + 1, message.customValidatorConfig);
                                        continue;
                                    }
                                }
                                reader.skipType(wireType, _depth, tag);
                                if (!reader.discardUnknown) {
                                    $util.makeProp(message, "$unknowns", false);
                                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                                }
                            }
                            if (length !== $undefined) {
                                if (reader.pos !== end)
                                    throw $RangeError("index out of range");
                                reader.len = length;
                            }
                            if (_end !== $undefined)
                                throw $Error("missing end group");
                            return message;
                        };

                        /**
                         * Gets the type url for CertificateValidationContext
                         * @function getTypeUrl
                         * @memberof envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext
                         * @static
                         * @param {string} [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                         * @returns {string} The type url
                         */
                        CertificateValidationContext.getTypeUrl = function(prefix) {
                            if (prefix === $undefined)
                                prefix = "type.googleapis.com";
                            return prefix + "/envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext";
                        };

                        return CertificateValidationContext;
                    })();

                    v3.SPIFFECertValidatorConfig = (function() {

                        /**
                         * Properties of a SPIFFECertValidatorConfig.
                         * @typedef {Object} envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.$Properties
                         * @property {Array.<envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain.$Properties>|null} [trustDomains] SPIFFECertValidatorConfig trustDomains
                         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                         */

                        /**
                         * Properties of a SPIFFECertValidatorConfig.
                         * @memberof envoy.extensions.transport_sockets.tls.v3
                         * @interface ISPIFFECertValidatorConfig
                         * @augments envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.$Properties
                         * @deprecated Use envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.$Properties instead.
                         */

                        /**
                         * Shape of a SPIFFECertValidatorConfig.
                         * @typedef {{
                         *   trustDomains?: Array.<envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain.$Shape>|null;
                         *   $unknowns?: Array.<Uint8Array>;
                         * }} envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.$Shape
                         */

                        /**
                         * Constructs a new SPIFFECertValidatorConfig.
                         * @memberof envoy.extensions.transport_sockets.tls.v3
                         * @classdesc Represents a SPIFFECertValidatorConfig.
                         * @constructor
                         * @param {envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.$Properties=} [properties] Properties to set
                         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                         */
                        const SPIFFECertValidatorConfig = function (properties) {
                            this.trustDomains = [];
                            if (properties)
                                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                        this[keys[i]] = properties[keys[i]];
                        };

                        /**
                         * SPIFFECertValidatorConfig trustDomains.
                         * @member {Array.<envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain.$Properties>} trustDomains
                         * @memberof envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig
                         * @instance
                         */
                        SPIFFECertValidatorConfig.prototype.trustDomains = $util.emptyArray;

                        /**
                         * Creates a new SPIFFECertValidatorConfig instance using the specified properties.
                         * @function create
                         * @memberof envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig
                         * @static
                         * @param {envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.$Properties=} [properties] Properties to set
                         * @returns {envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig} SPIFFECertValidatorConfig instance
                         * @type {{
                         *   (properties: envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.$Shape): envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig & envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.$Shape;
                         *   (properties?: envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.$Properties): envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig;
                         * }}
                         */
                        SPIFFECertValidatorConfig.create = function(properties) {
                            return new SPIFFECertValidatorConfig(properties);
                        };

                        /**
                         * Encodes the specified SPIFFECertValidatorConfig message. Does not implicitly {@link envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.verify|verify} messages.
                         * @function encode
                         * @memberof envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig
                         * @static
                         * @param {envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.$Properties} message SPIFFECertValidatorConfig message or plain object to encode
                         * @param {$protobuf.Writer} [writer] Writer to encode to
                         * @returns {$protobuf.Writer} Writer
                         */
                        SPIFFECertValidatorConfig.encode = function (message, writer, _depth) {
                            if (!writer)
                                writer = $Writer.create();
                            if (_depth === $undefined)
                                _depth = 0;
                            if (_depth > $util.recursionLimit)
                                throw $Error("max depth exceeded");
                            if (message.trustDomains != null && message.trustDomains.length)
                                for (let i = 0; i < message.trustDomains.length; ++i)
                                    $root.envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain.encode(message.trustDomains[i], writer.uint32(/* id 1, wireType 2 =*/10).fork(), _depth + 1).ldelim();
                            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                                for (let i = 0; i < message.$unknowns.length; ++i)
                                    writer.raw(message.$unknowns[i]);
                            return writer;
                        };

                        /**
                         * Decodes a SPIFFECertValidatorConfig message from the specified reader or buffer.
                         * @function decode
                         * @memberof envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig
                         * @static
                         * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
                         * @param {number} [length] Message length if known beforehand
                         * @returns {envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig & envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.$Shape} SPIFFECertValidatorConfig
                         * @throws {Error} If the payload is not a reader or valid buffer
                         * @throws {$protobuf.util.ProtocolError} If required fields are missing
                         */
                        SPIFFECertValidatorConfig.decode = function (reader, length, _end, _depth, _target) {
                            if (!(reader instanceof $Reader))
                                reader = $Reader.create(reader);
                            if (_depth === $undefined)
                                _depth = 0;
                            if (_depth > $Reader.recursionLimit)
                                throw $Error("max depth exceeded");
                            let end, message;
                            if (length === $undefined)
                                end = reader.len;
                            else {
                                end = reader.pos + length;
                                if (end > reader.len)
                                    throw $RangeError("index out of range");
                                length = reader.len;
                                reader.len = end;
                            }
                            message = _target || new $root.envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig();
                            while (reader.pos < end) {
                                let start = reader.pos;
                                let tag = reader.tag();
                                if (tag === _end) {
                                    _end = $undefined;
                                    break;
                                }
                                let wireType = tag & 7;
                                switch (tag >>>= 3) {
                                case 1: {
                                        if (wireType !== 2)
                                            break;
                                        if (!(message.trustDomains && message.trustDomains.length))
                                            message.trustDomains = [];
                                        message.trustDomains.push($root.envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain.decode(reader, reader.size(), $undefined, _depth + 1));
                                        continue;
                                    }
                                }
                                reader.skipType(wireType, _depth, tag);
                                if (!reader.discardUnknown) {
                                    $util.makeProp(message, "$unknowns", false);
                                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                                }
                            }
                            if (length !== $undefined) {
                                if (reader.pos !== end)
                                    throw $RangeError("index out of range");
                                reader.len = length;
                            }
                            if (_end !== $undefined)
                                throw $Error("missing end group");
                            return message;
                        };

                        /**
                         * Gets the type url for SPIFFECertValidatorConfig
                         * @function getTypeUrl
                         * @memberof envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig
                         * @static
                         * @param {string} [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                         * @returns {string} The type url
                         */
                        SPIFFECertValidatorConfig.getTypeUrl = function(prefix) {
                            if (prefix === $undefined)
                                prefix = "type.googleapis.com";
                            return prefix + "/envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig";
                        };

                        SPIFFECertValidatorConfig.TrustDomain = (function() {

                            /**
                             * Properties of a TrustDomain.
                             * @typedef {Object} envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain.$Properties
                             * @property {string|null} [name] TrustDomain name
                             * @property {envoy.config.core.v3.DataSource.$Properties|null} [trustBundle] TrustDomain trustBundle
                             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                             */

                            /**
                             * Properties of a TrustDomain.
                             * @memberof envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig
                             * @interface ITrustDomain
                             * @augments envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain.$Properties
                             * @deprecated Use envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain.$Properties instead.
                             */

                            /**
                             * Shape of a TrustDomain.
                             * @typedef {{
                             *   name?: string|null;
                             *   trustBundle?: envoy.config.core.v3.DataSource.$Shape|null;
                             *   $unknowns?: Array.<Uint8Array>;
                             * }} envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain.$Shape
                             */

                            /**
                             * Constructs a new TrustDomain.
                             * @memberof envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig
                             * @classdesc Represents a TrustDomain.
                             * @constructor
                             * @param {envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain.$Properties=} [properties] Properties to set
                             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                             */
                            const TrustDomain = function (properties) {
                                if (properties)
                                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                            this[keys[i]] = properties[keys[i]];
                            };

                            /**
                             * TrustDomain name.
                             * @member {string} name
                             * @memberof envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain
                             * @instance
                             */
                            TrustDomain.prototype.name = "";

                            /**
                             * TrustDomain trustBundle.
                             * @member {envoy.config.core.v3.DataSource.$Properties|null|undefined} trustBundle
                             * @memberof envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain
                             * @instance
                             */
                            TrustDomain.prototype.trustBundle = null;

                            /**
                             * Creates a new TrustDomain instance using the specified properties.
                             * @function create
                             * @memberof envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain
                             * @static
                             * @param {envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain.$Properties=} [properties] Properties to set
                             * @returns {envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain} TrustDomain instance
                             * @type {{
                             *   (properties: envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain.$Shape): envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain & envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain.$Shape;
                             *   (properties?: envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain.$Properties): envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain;
                             * }}
                             */
                            TrustDomain.create = function(properties) {
                                return new TrustDomain(properties);
                            };

                            /**
                             * Encodes the specified TrustDomain message. Does not implicitly {@link envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain.verify|verify} messages.
                             * @function encode
                             * @memberof envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain
                             * @static
                             * @param {envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain.$Properties} message TrustDomain message or plain object to encode
                             * @param {$protobuf.Writer} [writer] Writer to encode to
                             * @returns {$protobuf.Writer} Writer
                             */
                            TrustDomain.encode = function (message, writer, _depth) {
                                if (!writer)
                                    writer = $Writer.create();
                                if (_depth === $undefined)
                                    _depth = 0;
                                if (_depth > $util.recursionLimit)
                                    throw $Error("max depth exceeded");
                                if (message.name != null && $Object.hasOwnProperty.call(message, "name") && message.name !== "")
                                    writer.uint32(/* id 1, wireType 2 =*/10).string(message.name);
                                if (message.trustBundle != null && $Object.hasOwnProperty.call(message, "trustBundle"))
                                    $root.envoy.config.core.v3.DataSource.encode(message.trustBundle, writer.uint32(/* id 2, wireType 2 =*/18).fork(), _depth + 1).ldelim();
                                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                                    for (let i = 0; i < message.$unknowns.length; ++i)
                                        writer.raw(message.$unknowns[i]);
                                return writer;
                            };

                            /**
                             * Decodes a TrustDomain message from the specified reader or buffer.
                             * @function decode
                             * @memberof envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain
                             * @static
                             * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
                             * @param {number} [length] Message length if known beforehand
                             * @returns {envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain & envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain.$Shape} TrustDomain
                             * @throws {Error} If the payload is not a reader or valid buffer
                             * @throws {$protobuf.util.ProtocolError} If required fields are missing
                             */
                            TrustDomain.decode = function (reader, length, _end, _depth, _target) {
                                if (!(reader instanceof $Reader))
                                    reader = $Reader.create(reader);
                                if (_depth === $undefined)
                                    _depth = 0;
                                if (_depth > $Reader.recursionLimit)
                                    throw $Error("max depth exceeded");
                                let end, message, value;
                                if (length === $undefined)
                                    end = reader.len;
                                else {
                                    end = reader.pos + length;
                                    if (end > reader.len)
                                        throw $RangeError("index out of range");
                                    length = reader.len;
                                    reader.len = end;
                                }
                                message = _target || new $root.envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain();
                                while (reader.pos < end) {
                                    let start = reader.pos;
                                    let tag = reader.tag();
                                    if (tag === _end) {
                                        _end = $undefined;
                                        break;
                                    }
                                    let wireType = tag & 7;
                                    switch (tag >>>= 3) {
                                    case 1: {
                                            if (wireType !== 2)
                                                break;
                                            if ((value = reader.stringVerify()).length)
                                                message.name = value;
                                            else
                                                delete message.name;
                                            continue;
                                        }
                                    case 2: {
                                            if (wireType !== 2)
                                                break;
                                            message.trustBundle = $root.envoy.config.core.v3.DataSource.decode(reader, reader.size(), $undefined, _depth + 1, message.trustBundle);
                                            continue;
                                        }
                                    }
                                    reader.skipType(wireType, _depth, tag);
                                    if (!reader.discardUnknown) {
                                        $util.makeProp(message, "$unknowns", false);
                                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                                    }
                                }
                                if (length !== $undefined) {
                                    if (reader.pos !== end)
                                        throw $RangeError("index out of range");
                                    reader.len = length;
                                }
                                if (_end !== $undefined)
                                    throw $Error("missing end group");
                                return message;
                            };

                            /**
                             * Gets the type url for TrustDomain
                             * @function getTypeUrl
                             * @memberof envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain
                             * @static
                             * @param {string} [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                             * @returns {string} The type url
                             */
                            TrustDomain.getTypeUrl = function(prefix) {
                                if (prefix === $undefined)
                                    prefix = "type.googleapis.com";
                                return prefix + "/envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain";
                            };

                            return TrustDomain;
                        })();

                        return SPIFFECertValidatorConfig;
                    })();

                    return v3;
                })();

                return tls;
            })();

            return transport_sockets;
        })();

        return extensions;
    })();

    envoy.config = (function() {

        /**
         * Namespace config.
         * @memberof envoy
         * @namespace
         */
        const config = {};

        config.core = (function() {

            /**
             * Namespace core.
             * @memberof envoy.config
             * @namespace
             */
            const core = {};

            core.v3 = (function() {

                /**
                 * Namespace v3.
                 * @memberof envoy.config.core
                 * @namespace
                 */
                const v3 = {};

                v3.Node = (function() {

                    /**
                     * Properties of a Node.
                     * @typedef {Object} envoy.config.core.v3.Node.$Properties
                     * @property {string|null} [id] Node id
                     * @property {string|null} [cluster] Node cluster
                     * @property {string|null} [userAgentName] Node userAgentName
                     * @property {envoy.config.core.v3.BuildVersion.$Properties|null} [userAgentBuildVersion] Node userAgentBuildVersion
                     * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                     */

                    /**
                     * Properties of a Node.
                     * @memberof envoy.config.core.v3
                     * @interface INode
                     * @augments envoy.config.core.v3.Node.$Properties
                     * @deprecated Use envoy.config.core.v3.Node.$Properties instead.
                     */

                    /**
                     * Shape of a Node.
                     * @typedef {envoy.config.core.v3.Node.$Properties} envoy.config.core.v3.Node.$Shape
                     */

                    /**
                     * Constructs a new Node.
                     * @memberof envoy.config.core.v3
                     * @classdesc Represents a Node.
                     * @constructor
                     * @param {envoy.config.core.v3.Node.$Properties=} [properties] Properties to set
                     * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                     */
                    const Node = function (properties) {
                        if (properties)
                            for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                                if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                    this[keys[i]] = properties[keys[i]];
                    };

                    /**
                     * Node id.
                     * @member {string} id
                     * @memberof envoy.config.core.v3.Node
                     * @instance
                     */
                    Node.prototype.id = "";

                    /**
                     * Node cluster.
                     * @member {string} cluster
                     * @memberof envoy.config.core.v3.Node
                     * @instance
                     */
                    Node.prototype.cluster = "";

                    /**
                     * Node userAgentName.
                     * @member {string} userAgentName
                     * @memberof envoy.config.core.v3.Node
                     * @instance
                     */
                    Node.prototype.userAgentName = "";

                    /**
                     * Node userAgentBuildVersion.
                     * @member {envoy.config.core.v3.BuildVersion.$Properties|null|undefined} userAgentBuildVersion
                     * @memberof envoy.config.core.v3.Node
                     * @instance
                     */
                    Node.prototype.userAgentBuildVersion = null;

                    /**
                     * Creates a new Node instance using the specified properties.
                     * @function create
                     * @memberof envoy.config.core.v3.Node
                     * @static
                     * @param {envoy.config.core.v3.Node.$Properties=} [properties] Properties to set
                     * @returns {envoy.config.core.v3.Node} Node instance
                     * @type {{
                     *   (properties: envoy.config.core.v3.Node.$Shape): envoy.config.core.v3.Node & envoy.config.core.v3.Node.$Shape;
                     *   (properties?: envoy.config.core.v3.Node.$Properties): envoy.config.core.v3.Node;
                     * }}
                     */
                    Node.create = function(properties) {
                        return new Node(properties);
                    };

                    /**
                     * Encodes the specified Node message. Does not implicitly {@link envoy.config.core.v3.Node.verify|verify} messages.
                     * @function encode
                     * @memberof envoy.config.core.v3.Node
                     * @static
                     * @param {envoy.config.core.v3.Node.$Properties} message Node message or plain object to encode
                     * @param {$protobuf.Writer} [writer] Writer to encode to
                     * @returns {$protobuf.Writer} Writer
                     */
                    Node.encode = function (message, writer, _depth) {
                        if (!writer)
                            writer = $Writer.create();
                        if (_depth === $undefined)
                            _depth = 0;
                        if (_depth > $util.recursionLimit)
                            throw $Error("max depth exceeded");
                        if (message.id != null && $Object.hasOwnProperty.call(message, "id") && message.id !== "")
                            writer.uint32(/* id 1, wireType 2 =*/10).string(message.id);
                        if (message.cluster != null && $Object.hasOwnProperty.call(message, "cluster") && message.cluster !== "")
                            writer.uint32(/* id 2, wireType 2 =*/18).string(message.cluster);
                        if (message.userAgentName != null && $Object.hasOwnProperty.call(message, "userAgentName") && message.userAgentName !== "")
                            writer.uint32(/* id 6, wireType 2 =*/50).string(message.userAgentName);
                        if (message.userAgentBuildVersion != null && $Object.hasOwnProperty.call(message, "userAgentBuildVersion"))
                            $root.envoy.config.core.v3.BuildVersion.encode(message.userAgentBuildVersion, writer.uint32(/* id 8, wireType 2 =*/66).fork(), _depth + 1).ldelim();
                        if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                            for (let i = 0; i < message.$unknowns.length; ++i)
                                writer.raw(message.$unknowns[i]);
                        return writer;
                    };

                    /**
                     * Decodes a Node message from the specified reader or buffer.
                     * @function decode
                     * @memberof envoy.config.core.v3.Node
                     * @static
                     * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
                     * @param {number} [length] Message length if known beforehand
                     * @returns {envoy.config.core.v3.Node & envoy.config.core.v3.Node.$Shape} Node
                     * @throws {Error} If the payload is not a reader or valid buffer
                     * @throws {$protobuf.util.ProtocolError} If required fields are missing
                     */
                    Node.decode = function (reader, length, _end, _depth, _target) {
                        if (!(reader instanceof $Reader))
                            reader = $Reader.create(reader);
                        if (_depth === $undefined)
                            _depth = 0;
                        if (_depth > $Reader.recursionLimit)
                            throw $Error("max depth exceeded");
                        let end, message, value;
                        if (length === $undefined)
                            end = reader.len;
                        else {
                            end = reader.pos + length;
                            if (end > reader.len)
                                throw $RangeError("index out of range");
                            length = reader.len;
                            reader.len = end;
                        }
                        message = _target || new $root.envoy.config.core.v3.Node();
                        while (reader.pos < end) {
                            let start = reader.pos;
                            let tag = reader.tag();
                            if (tag === _end) {
                                _end = $undefined;
                                break;
                            }
                            let wireType = tag & 7;
                            switch (tag >>>= 3) {
                            case 1: {
                                    if (wireType !== 2)
                                        break;
                                    if ((value = reader.stringVerify()).length)
                                        message.id = value;
                                    else
                                        delete message.id;
                                    continue;
                                }
                            case 2: {
                                    if (wireType !== 2)
                                        break;
                                    if ((value = reader.stringVerify()).length)
                                        message.cluster = value;
                                    else
                                        delete message.cluster;
                                    continue;
                                }
                            case 6: {
                                    if (wireType !== 2)
                                        break;
                                    if ((value = reader.stringVerify()).length)
                                        message.userAgentName = value;
                                    else
                                        delete message.userAgentName;
                                    continue;
                                }
                            case 8: {
                                    if (wireType !== 2)
                                        break;
                                    message.userAgentBuildVersion = $root.envoy.config.core.v3.BuildVersion.decode(reader, reader.size(), $undefined, _depth + 1, message.userAgentBuildVersion);
                                    continue;
                                }
                            }
                            reader.skipType(wireType, _depth, tag);
                            if (!reader.discardUnknown) {
                                $util.makeProp(message, "$unknowns", false);
                                (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                            }
                        }
                        if (length !== $undefined) {
                            if (reader.pos !== end)
                                throw $RangeError("index out of range");
                            reader.len = length;
                        }
                        if (_end !== $undefined)
                            throw $Error("missing end group");
                        return message;
                    };

                    /**
                     * Gets the type url for Node
                     * @function getTypeUrl
                     * @memberof envoy.config.core.v3.Node
                     * @static
                     * @param {string} [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                     * @returns {string} The type url
                     */
                    Node.getTypeUrl = function(prefix) {
                        if (prefix === $undefined)
                            prefix = "type.googleapis.com";
                        return prefix + "/envoy.config.core.v3.Node";
                    };

                    return Node;
                })();

                v3.BuildVersion = (function() {

                    /**
                     * Properties of a BuildVersion.
                     * @typedef {Object} envoy.config.core.v3.BuildVersion.$Properties
                     * @property {envoy.type.v3.SemanticVersion.$Properties|null} [version] BuildVersion version
                     * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                     */

                    /**
                     * Properties of a BuildVersion.
                     * @memberof envoy.config.core.v3
                     * @interface IBuildVersion
                     * @augments envoy.config.core.v3.BuildVersion.$Properties
                     * @deprecated Use envoy.config.core.v3.BuildVersion.$Properties instead.
                     */

                    /**
                     * Shape of a BuildVersion.
                     * @typedef {envoy.config.core.v3.BuildVersion.$Properties} envoy.config.core.v3.BuildVersion.$Shape
                     */

                    /**
                     * Constructs a new BuildVersion.
                     * @memberof envoy.config.core.v3
                     * @classdesc Represents a BuildVersion.
                     * @constructor
                     * @param {envoy.config.core.v3.BuildVersion.$Properties=} [properties] Properties to set
                     * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                     */
                    const BuildVersion = function (properties) {
                        if (properties)
                            for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                                if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                    this[keys[i]] = properties[keys[i]];
                    };

                    /**
                     * BuildVersion version.
                     * @member {envoy.type.v3.SemanticVersion.$Properties|null|undefined} version
                     * @memberof envoy.config.core.v3.BuildVersion
                     * @instance
                     */
                    BuildVersion.prototype.version = null;

                    /**
                     * Creates a new BuildVersion instance using the specified properties.
                     * @function create
                     * @memberof envoy.config.core.v3.BuildVersion
                     * @static
                     * @param {envoy.config.core.v3.BuildVersion.$Properties=} [properties] Properties to set
                     * @returns {envoy.config.core.v3.BuildVersion} BuildVersion instance
                     * @type {{
                     *   (properties: envoy.config.core.v3.BuildVersion.$Shape): envoy.config.core.v3.BuildVersion & envoy.config.core.v3.BuildVersion.$Shape;
                     *   (properties?: envoy.config.core.v3.BuildVersion.$Properties): envoy.config.core.v3.BuildVersion;
                     * }}
                     */
                    BuildVersion.create = function(properties) {
                        return new BuildVersion(properties);
                    };

                    /**
                     * Encodes the specified BuildVersion message. Does not implicitly {@link envoy.config.core.v3.BuildVersion.verify|verify} messages.
                     * @function encode
                     * @memberof envoy.config.core.v3.BuildVersion
                     * @static
                     * @param {envoy.config.core.v3.BuildVersion.$Properties} message BuildVersion message or plain object to encode
                     * @param {$protobuf.Writer} [writer] Writer to encode to
                     * @returns {$protobuf.Writer} Writer
                     */
                    BuildVersion.encode = function (message, writer, _depth) {
                        if (!writer)
                            writer = $Writer.create();
                        if (_depth === $undefined)
                            _depth = 0;
                        if (_depth > $util.recursionLimit)
                            throw $Error("max depth exceeded");
                        if (message.version != null && $Object.hasOwnProperty.call(message, "version"))
                            $root.envoy.type.v3.SemanticVersion.encode(message.version, writer.uint32(/* id 1, wireType 2 =*/10).fork(), _depth + 1).ldelim();
                        if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                            for (let i = 0; i < message.$unknowns.length; ++i)
                                writer.raw(message.$unknowns[i]);
                        return writer;
                    };

                    /**
                     * Decodes a BuildVersion message from the specified reader or buffer.
                     * @function decode
                     * @memberof envoy.config.core.v3.BuildVersion
                     * @static
                     * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
                     * @param {number} [length] Message length if known beforehand
                     * @returns {envoy.config.core.v3.BuildVersion & envoy.config.core.v3.BuildVersion.$Shape} BuildVersion
                     * @throws {Error} If the payload is not a reader or valid buffer
                     * @throws {$protobuf.util.ProtocolError} If required fields are missing
                     */
                    BuildVersion.decode = function (reader, length, _end, _depth, _target) {
                        if (!(reader instanceof $Reader))
                            reader = $Reader.create(reader);
                        if (_depth === $undefined)
                            _depth = 0;
                        if (_depth > $Reader.recursionLimit)
                            throw $Error("max depth exceeded");
                        let end, message, value;
                        if (length === $undefined)
                            end = reader.len;
                        else {
                            end = reader.pos + length;
                            if (end > reader.len)
                                throw $RangeError("index out of range");
                            length = reader.len;
                            reader.len = end;
                        }
                        message = _target || new $root.envoy.config.core.v3.BuildVersion();
                        while (reader.pos < end) {
                            let start = reader.pos;
                            let tag = reader.tag();
                            if (tag === _end) {
                                _end = $undefined;
                                break;
                            }
                            let wireType = tag & 7;
                            switch (tag >>>= 3) {
                            case 1: {
                                    if (wireType !== 2)
                                        break;
                                    message.version = $root.envoy.type.v3.SemanticVersion.decode(reader, reader.size(), $undefined, _depth + 1, message.version);
                                    continue;
                                }
                            }
                            reader.skipType(wireType, _depth, tag);
                            if (!reader.discardUnknown) {
                                $util.makeProp(message, "$unknowns", false);
                                (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                            }
                        }
                        if (length !== $undefined) {
                            if (reader.pos !== end)
                                throw $RangeError("index out of range");
                            reader.len = length;
                        }
                        if (_end !== $undefined)
                            throw $Error("missing end group");
                        return message;
                    };

                    /**
                     * Gets the type url for BuildVersion
                     * @function getTypeUrl
                     * @memberof envoy.config.core.v3.BuildVersion
                     * @static
                     * @param {string} [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                     * @returns {string} The type url
                     */
                    BuildVersion.getTypeUrl = function(prefix) {
                        if (prefix === $undefined)
                            prefix = "type.googleapis.com";
                        return prefix + "/envoy.config.core.v3.BuildVersion";
                    };

                    return BuildVersion;
                })();

                v3.DataSource = (function() {

                    /**
                     * Properties of a DataSource.
                     * @typedef {Object} envoy.config.core.v3.DataSource.$Properties
                     * @property {string|null} [filename] DataSource filename
                     * @property {Uint8Array|null} [inlineBytes] DataSource inlineBytes
                     * @property {string|null} [inlineString] DataSource inlineString
                     * @property {"filename"|"inlineBytes"|"inlineString"} [specifier] DataSource specifier
                     * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                     */

                    /**
                     * Properties of a DataSource.
                     * @memberof envoy.config.core.v3
                     * @interface IDataSource
                     * @augments envoy.config.core.v3.DataSource.$Properties
                     * @deprecated Use envoy.config.core.v3.DataSource.$Properties instead.
                     */

                    /**
                     * Narrowed shape of a DataSource.
                     * @typedef {{
                     *   filename?: string|null;
                     *   inlineBytes?: Uint8Array|null;
                     *   inlineString?: string|null;
                     *   $unknowns?: Array.<Uint8Array>;
                     * } & (
                     *   ({ specifier?: undefined; filename?: null; inlineBytes?: null; inlineString?: null }|{ specifier?: "filename"; filename: string; inlineBytes?: null; inlineString?: null }|{ specifier?: "inlineBytes"; filename?: null; inlineBytes: Uint8Array; inlineString?: null }|{ specifier?: "inlineString"; filename?: null; inlineBytes?: null; inlineString: string })
                     * )} envoy.config.core.v3.DataSource.$Shape
                     */

                    /**
                     * Constructs a new DataSource.
                     * @memberof envoy.config.core.v3
                     * @classdesc Represents a DataSource.
                     * @constructor
                     * @param {envoy.config.core.v3.DataSource.$Properties=} [properties] Properties to set
                     * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                     */
                    const DataSource = function (properties) {
                        if (properties)
                            for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                                if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                    this[keys[i]] = properties[keys[i]];
                    };

                    /**
                     * DataSource filename.
                     * @member {string|null|undefined} filename
                     * @memberof envoy.config.core.v3.DataSource
                     * @instance
                     */
                    DataSource.prototype.filename = null;

                    /**
                     * DataSource inlineBytes.
                     * @member {Uint8Array|null|undefined} inlineBytes
                     * @memberof envoy.config.core.v3.DataSource
                     * @instance
                     */
                    DataSource.prototype.inlineBytes = null;

                    /**
                     * DataSource inlineString.
                     * @member {string|null|undefined} inlineString
                     * @memberof envoy.config.core.v3.DataSource
                     * @instance
                     */
                    DataSource.prototype.inlineString = null;

                    // OneOf field names bound to virtual getters and setters
                    let $oneOfFields;

                    /**
                     * DataSource specifier.
                     * @member {"filename"|"inlineBytes"|"inlineString"|undefined} specifier
                     * @memberof envoy.config.core.v3.DataSource
                     * @instance
                     */
                    $Object.defineProperty(DataSource.prototype, "specifier", {
                        get: $util.oneOfGetter($oneOfFields = ["filename", "inlineBytes", "inlineString"]),
                        set: $util.oneOfSetter($oneOfFields)
                    });

                    /**
                     * Creates a new DataSource instance using the specified properties.
                     * @function create
                     * @memberof envoy.config.core.v3.DataSource
                     * @static
                     * @param {envoy.config.core.v3.DataSource.$Properties=} [properties] Properties to set
                     * @returns {envoy.config.core.v3.DataSource} DataSource instance
                     * @type {{
                     *   (properties: envoy.config.core.v3.DataSource.$Shape): envoy.config.core.v3.DataSource & envoy.config.core.v3.DataSource.$Shape;
                     *   (properties?: envoy.config.core.v3.DataSource.$Properties): envoy.config.core.v3.DataSource;
                     * }}
                     */
                    DataSource.create = function(properties) {
                        return new DataSource(properties);
                    };

                    /**
                     * Encodes the specified DataSource message. Does not implicitly {@link envoy.config.core.v3.DataSource.verify|verify} messages.
                     * @function encode
                     * @memberof envoy.config.core.v3.DataSource
                     * @static
                     * @param {envoy.config.core.v3.DataSource.$Properties} message DataSource message or plain object to encode
                     * @param {$protobuf.Writer} [writer] Writer to encode to
                     * @returns {$protobuf.Writer} Writer
                     */
                    DataSource.encode = function (message, writer, _depth) {
                        if (!writer)
                            writer = $Writer.create();
                        if (_depth === $undefined)
                            _depth = 0;
                        if (_depth > $util.recursionLimit)
                            throw $Error("max depth exceeded");
                        if (message.filename != null && $Object.hasOwnProperty.call(message, "filename"))
                            writer.uint32(/* id 1, wireType 2 =*/10).string(message.filename);
                        if (message.inlineBytes != null && $Object.hasOwnProperty.call(message, "inlineBytes"))
                            writer.uint32(/* id 2, wireType 2 =*/18).bytes(message.inlineBytes);
                        if (message.inlineString != null && $Object.hasOwnProperty.call(message, "inlineString"))
                            writer.uint32(/* id 3, wireType 2 =*/26).string(message.inlineString);
                        if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                            for (let i = 0; i < message.$unknowns.length; ++i)
                                writer.raw(message.$unknowns[i]);
                        return writer;
                    };

                    /**
                     * Decodes a DataSource message from the specified reader or buffer.
                     * @function decode
                     * @memberof envoy.config.core.v3.DataSource
                     * @static
                     * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
                     * @param {number} [length] Message length if known beforehand
                     * @returns {envoy.config.core.v3.DataSource & envoy.config.core.v3.DataSource.$Shape} DataSource
                     * @throws {Error} If the payload is not a reader or valid buffer
                     * @throws {$protobuf.util.ProtocolError} If required fields are missing
                     */
                    DataSource.decode = function (reader, length, _end, _depth, _target) {
                        if (!(reader instanceof $Reader))
                            reader = $Reader.create(reader);
                        if (_depth === $undefined)
                            _depth = 0;
                        if (_depth > $Reader.recursionLimit)
                            throw $Error("max depth exceeded");
                        let end, message;
                        if (length === $undefined)
                            end = reader.len;
                        else {
                            end = reader.pos + length;
                            if (end > reader.len)
                                throw $RangeError("index out of range");
                            length = reader.len;
                            reader.len = end;
                        }
                        message = _target || new $root.envoy.config.core.v3.DataSource();
                        while (reader.pos < end) {
                            let start = reader.pos;
                            let tag = reader.tag();
                            if (tag === _end) {
                                _end = $undefined;
                                break;
                            }
                            let wireType = tag & 7;
                            switch (tag >>>= 3) {
                            case 1: {
                                    if (wireType !== 2)
                                        break;
                                    message.filename = reader.stringVerify();
                                    message.specifier = "filename";
                                    continue;
                                }
                            case 2: {
                                    if (wireType !== 2)
                                        break;
                                    message.inlineBytes = reader.bytes();
                                    message.specifier = "inlineBytes";
                                    continue;
                                }
                            case 3: {
                                    if (wireType !== 2)
                                        break;
                                    message.inlineString = reader.stringVerify();
                                    message.specifier = "inlineString";
                                    continue;
                                }
                            }
                            reader.skipType(wireType, _depth, tag);
                            if (!reader.discardUnknown) {
                                $util.makeProp(message, "$unknowns", false);
                                (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                            }
                        }
                        if (length !== $undefined) {
                            if (reader.pos !== end)
                                throw $RangeError("index out of range");
                            reader.len = length;
                        }
                        if (_end !== $undefined)
                            throw $Error("missing end group");
                        return message;
                    };

                    /**
                     * Gets the type url for DataSource
                     * @function getTypeUrl
                     * @memberof envoy.config.core.v3.DataSource
                     * @static
                     * @param {string} [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                     * @returns {string} The type url
                     */
                    DataSource.getTypeUrl = function(prefix) {
                        if (prefix === $undefined)
                            prefix = "type.googleapis.com";
                        return prefix + "/envoy.config.core.v3.DataSource";
                    };

                    return DataSource;
                })();

                v3.TypedExtensionConfig = (function() {

                    /**
                     * Properties of a TypedExtensionConfig.
                     * @typedef {Object} envoy.config.core.v3.TypedExtensionConfig.$Properties
                     * @property {string|null} [name] TypedExtensionConfig name
                     * @property {google.protobuf.Any.$Properties|null} [typedConfig] TypedExtensionConfig typedConfig
                     * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                     */

                    /**
                     * Properties of a TypedExtensionConfig.
                     * @memberof envoy.config.core.v3
                     * @interface ITypedExtensionConfig
                     * @augments envoy.config.core.v3.TypedExtensionConfig.$Properties
                     * @deprecated Use envoy.config.core.v3.TypedExtensionConfig.$Properties instead.
                     */

                    /**
                     * Shape of a TypedExtensionConfig.
                     * @typedef {envoy.config.core.v3.TypedExtensionConfig.$Properties} envoy.config.core.v3.TypedExtensionConfig.$Shape
                     */

                    /**
                     * Constructs a new TypedExtensionConfig.
                     * @memberof envoy.config.core.v3
                     * @classdesc Represents a TypedExtensionConfig.
                     * @constructor
                     * @param {envoy.config.core.v3.TypedExtensionConfig.$Properties=} [properties] Properties to set
                     * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                     */
                    const TypedExtensionConfig = function (properties) {
                        if (properties)
                            for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                                if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                    this[keys[i]] = properties[keys[i]];
                    };

                    /**
                     * TypedExtensionConfig name.
                     * @member {string} name
                     * @memberof envoy.config.core.v3.TypedExtensionConfig
                     * @instance
                     */
                    TypedExtensionConfig.prototype.name = "";

                    /**
                     * TypedExtensionConfig typedConfig.
                     * @member {google.protobuf.Any.$Properties|null|undefined} typedConfig
                     * @memberof envoy.config.core.v3.TypedExtensionConfig
                     * @instance
                     */
                    TypedExtensionConfig.prototype.typedConfig = null;

                    /**
                     * Creates a new TypedExtensionConfig instance using the specified properties.
                     * @function create
                     * @memberof envoy.config.core.v3.TypedExtensionConfig
                     * @static
                     * @param {envoy.config.core.v3.TypedExtensionConfig.$Properties=} [properties] Properties to set
                     * @returns {envoy.config.core.v3.TypedExtensionConfig} TypedExtensionConfig instance
                     * @type {{
                     *   (properties: envoy.config.core.v3.TypedExtensionConfig.$Shape): envoy.config.core.v3.TypedExtensionConfig & envoy.config.core.v3.TypedExtensionConfig.$Shape;
                     *   (properties?: envoy.config.core.v3.TypedExtensionConfig.$Properties): envoy.config.core.v3.TypedExtensionConfig;
                     * }}
                     */
                    TypedExtensionConfig.create = function(properties) {
                        return new TypedExtensionConfig(properties);
                    };

                    /**
                     * Encodes the specified TypedExtensionConfig message. Does not implicitly {@link envoy.config.core.v3.TypedExtensionConfig.verify|verify} messages.
                     * @function encode
                     * @memberof envoy.config.core.v3.TypedExtensionConfig
                     * @static
                     * @param {envoy.config.core.v3.TypedExtensionConfig.$Properties} message TypedExtensionConfig message or plain object to encode
                     * @param {$protobuf.Writer} [writer] Writer to encode to
                     * @returns {$protobuf.Writer} Writer
                     */
                    TypedExtensionConfig.encode = function (message, writer, _depth) {
                        if (!writer)
                            writer = $Writer.create();
                        if (_depth === $undefined)
                            _depth = 0;
                        if (_depth > $util.recursionLimit)
                            throw $Error("max depth exceeded");
                        if (message.name != null && $Object.hasOwnProperty.call(message, "name") && message.name !== "")
                            writer.uint32(/* id 1, wireType 2 =*/10).string(message.name);
                        if (message.typedConfig != null && $Object.hasOwnProperty.call(message, "typedConfig"))
                            $root.google.protobuf.Any.encode(message.typedConfig, writer.uint32(/* id 2, wireType 2 =*/18).fork(), _depth + 1).ldelim();
                        if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                            for (let i = 0; i < message.$unknowns.length; ++i)
                                writer.raw(message.$unknowns[i]);
                        return writer;
                    };

                    /**
                     * Decodes a TypedExtensionConfig message from the specified reader or buffer.
                     * @function decode
                     * @memberof envoy.config.core.v3.TypedExtensionConfig
                     * @static
                     * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
                     * @param {number} [length] Message length if known beforehand
                     * @returns {envoy.config.core.v3.TypedExtensionConfig & envoy.config.core.v3.TypedExtensionConfig.$Shape} TypedExtensionConfig
                     * @throws {Error} If the payload is not a reader or valid buffer
                     * @throws {$protobuf.util.ProtocolError} If required fields are missing
                     */
                    TypedExtensionConfig.decode = function (reader, length, _end, _depth, _target) {
                        if (!(reader instanceof $Reader))
                            reader = $Reader.create(reader);
                        if (_depth === $undefined)
                            _depth = 0;
                        if (_depth > $Reader.recursionLimit)
                            throw $Error("max depth exceeded");
                        let end, message, value;
                        if (length === $undefined)
                            end = reader.len;
                        else {
                            end = reader.pos + length;
                            if (end > reader.len)
                                throw $RangeError("index out of range");
                            length = reader.len;
                            reader.len = end;
                        }
                        message = _target || new $root.envoy.config.core.v3.TypedExtensionConfig();
                        while (reader.pos < end) {
                            let start = reader.pos;
                            let tag = reader.tag();
                            if (tag === _end) {
                                _end = $undefined;
                                break;
                            }
                            let wireType = tag & 7;
                            switch (tag >>>= 3) {
                            case 1: {
                                    if (wireType !== 2)
                                        break;
                                    if ((value = reader.stringVerify()).length)
                                        message.name = value;
                                    else
                                        delete message.name;
                                    continue;
                                }
                            case 2: {
                                    if (wireType !== 2)
                                        break;
                                    message.typedConfig = $root.google.protobuf.Any.decode(reader, reader.size(), $undefined, _depth + 1, message.typedConfig);
                                    continue;
                                }
                            }
                            reader.skipType(wireType, _depth, tag);
                            if (!reader.discardUnknown) {
                                $util.makeProp(message, "$unknowns", false);
                                (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                            }
                        }
                        if (length !== $undefined) {
                            if (reader.pos !== end)
                                throw $RangeError("index out of range");
                            reader.len = length;
                        }
                        if (_end !== $undefined)
                            throw $Error("missing end group");
                        return message;
                    };

                    /**
                     * Gets the type url for TypedExtensionConfig
                     * @function getTypeUrl
                     * @memberof envoy.config.core.v3.TypedExtensionConfig
                     * @static
                     * @param {string} [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                     * @returns {string} The type url
                     */
                    TypedExtensionConfig.getTypeUrl = function(prefix) {
                        if (prefix === $undefined)
                            prefix = "type.googleapis.com";
                        return prefix + "/envoy.config.core.v3.TypedExtensionConfig";
                    };

                    return TypedExtensionConfig;
                })();

                return v3;
            })();

            return core;
        })();

        return config;
    })();

    envoy.type = (function() {

        /**
         * Namespace type.
         * @memberof envoy
         * @namespace
         */
        const type = {};

        type.v3 = (function() {

            /**
             * Namespace v3.
             * @memberof envoy.type
             * @namespace
             */
            const v3 = {};

            v3.SemanticVersion = (function() {

                /**
                 * Properties of a SemanticVersion.
                 * @typedef {Object} envoy.type.v3.SemanticVersion.$Properties
                 * @property {number|null} [majorNumber] SemanticVersion majorNumber
                 * @property {number|null} [minorNumber] SemanticVersion minorNumber
                 * @property {number|null} [patch] SemanticVersion patch
                 * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                 */

                /**
                 * Properties of a SemanticVersion.
                 * @memberof envoy.type.v3
                 * @interface ISemanticVersion
                 * @augments envoy.type.v3.SemanticVersion.$Properties
                 * @deprecated Use envoy.type.v3.SemanticVersion.$Properties instead.
                 */

                /**
                 * Shape of a SemanticVersion.
                 * @typedef {envoy.type.v3.SemanticVersion.$Properties} envoy.type.v3.SemanticVersion.$Shape
                 */

                /**
                 * Constructs a new SemanticVersion.
                 * @memberof envoy.type.v3
                 * @classdesc Represents a SemanticVersion.
                 * @constructor
                 * @param {envoy.type.v3.SemanticVersion.$Properties=} [properties] Properties to set
                 * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                 */
                const SemanticVersion = function (properties) {
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                /**
                 * SemanticVersion majorNumber.
                 * @member {number} majorNumber
                 * @memberof envoy.type.v3.SemanticVersion
                 * @instance
                 */
                SemanticVersion.prototype.majorNumber = 0;

                /**
                 * SemanticVersion minorNumber.
                 * @member {number} minorNumber
                 * @memberof envoy.type.v3.SemanticVersion
                 * @instance
                 */
                SemanticVersion.prototype.minorNumber = 0;

                /**
                 * SemanticVersion patch.
                 * @member {number} patch
                 * @memberof envoy.type.v3.SemanticVersion
                 * @instance
                 */
                SemanticVersion.prototype.patch = 0;

                /**
                 * Creates a new SemanticVersion instance using the specified properties.
                 * @function create
                 * @memberof envoy.type.v3.SemanticVersion
                 * @static
                 * @param {envoy.type.v3.SemanticVersion.$Properties=} [properties] Properties to set
                 * @returns {envoy.type.v3.SemanticVersion} SemanticVersion instance
                 * @type {{
                 *   (properties: envoy.type.v3.SemanticVersion.$Shape): envoy.type.v3.SemanticVersion & envoy.type.v3.SemanticVersion.$Shape;
                 *   (properties?: envoy.type.v3.SemanticVersion.$Properties): envoy.type.v3.SemanticVersion;
                 * }}
                 */
                SemanticVersion.create = function(properties) {
                    return new SemanticVersion(properties);
                };

                /**
                 * Encodes the specified SemanticVersion message. Does not implicitly {@link envoy.type.v3.SemanticVersion.verify|verify} messages.
                 * @function encode
                 * @memberof envoy.type.v3.SemanticVersion
                 * @static
                 * @param {envoy.type.v3.SemanticVersion.$Properties} message SemanticVersion message or plain object to encode
                 * @param {$protobuf.Writer} [writer] Writer to encode to
                 * @returns {$protobuf.Writer} Writer
                 */
                SemanticVersion.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.majorNumber != null && $Object.hasOwnProperty.call(message, "majorNumber") && message.majorNumber !== 0)
                        writer.uint32(/* id 1, wireType 0 =*/8).uint32(message.majorNumber);
                    if (message.minorNumber != null && $Object.hasOwnProperty.call(message, "minorNumber") && message.minorNumber !== 0)
                        writer.uint32(/* id 2, wireType 0 =*/16).uint32(message.minorNumber);
                    if (message.patch != null && $Object.hasOwnProperty.call(message, "patch") && message.patch !== 0)
                        writer.uint32(/* id 3, wireType 0 =*/24).uint32(message.patch);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                /**
                 * Decodes a SemanticVersion message from the specified reader or buffer.
                 * @function decode
                 * @memberof envoy.type.v3.SemanticVersion
                 * @static
                 * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
                 * @param {number} [length] Message length if known beforehand
                 * @returns {envoy.type.v3.SemanticVersion & envoy.type.v3.SemanticVersion.$Shape} SemanticVersion
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                SemanticVersion.decode = function (reader, length, _end, _depth, _target) {
                    if (!(reader instanceof $Reader))
                        reader = $Reader.create(reader);
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $Reader.recursionLimit)
                        throw $Error("max depth exceeded");
                    let end, message, value;
                    if (length === $undefined)
                        end = reader.len;
                    else {
                        end = reader.pos + length;
                        if (end > reader.len)
                            throw $RangeError("index out of range");
                        length = reader.len;
                        reader.len = end;
                    }
                    message = _target || new $root.envoy.type.v3.SemanticVersion();
                    while (reader.pos < end) {
                        let start = reader.pos;
                        let tag = reader.tag();
                        if (tag === _end) {
                            _end = $undefined;
                            break;
                        }
                        let wireType = tag & 7;
                        switch (tag >>>= 3) {
                        case 1: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.uint32())
                                    message.majorNumber = value;
                                else
                                    delete message.majorNumber;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.uint32())
                                    message.minorNumber = value;
                                else
                                    delete message.minorNumber;
                                continue;
                            }
                        case 3: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.uint32())
                                    message.patch = value;
                                else
                                    delete message.patch;
                                continue;
                            }
                        }
                        reader.skipType(wireType, _depth, tag);
                        if (!reader.discardUnknown) {
                            $util.makeProp(message, "$unknowns", false);
                            (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                        }
                    }
                    if (length !== $undefined) {
                        if (reader.pos !== end)
                            throw $RangeError("index out of range");
                        reader.len = length;
                    }
                    if (_end !== $undefined)
                        throw $Error("missing end group");
                    return message;
                };

                /**
                 * Gets the type url for SemanticVersion
                 * @function getTypeUrl
                 * @memberof envoy.type.v3.SemanticVersion
                 * @static
                 * @param {string} [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                 * @returns {string} The type url
                 */
                SemanticVersion.getTypeUrl = function(prefix) {
                    if (prefix === $undefined)
                        prefix = "type.googleapis.com";
                    return prefix + "/envoy.type.v3.SemanticVersion";
                };

                return SemanticVersion;
            })();

            return v3;
        })();

        return type;
    })();

    return envoy;
})();

export const google = $root.google = (() => {

    /**
     * Namespace google.
     * @exports google
     * @namespace
     */
    const google = {};

    google.protobuf = (function() {

        /**
         * Namespace protobuf.
         * @memberof google
         * @namespace
         */
        const protobuf = {};

        protobuf.Any = (function() {

            /**
             * Properties of an Any.
             * @typedef {Object} google.protobuf.Any.$Properties
             * @property {string|null} [type_url] Any type_url
             * @property {Uint8Array|null} [value] Any value
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */

            /**
             * Properties of an Any.
             * @memberof google.protobuf
             * @interface IAny
             * @augments google.protobuf.Any.$Properties
             * @deprecated Use google.protobuf.Any.$Properties instead.
             */

            /**
             * Shape of an Any.
             * @typedef {google.protobuf.Any.$Properties} google.protobuf.Any.$Shape
             */

            /**
             * Constructs a new Any.
             * @memberof google.protobuf
             * @classdesc Represents an Any.
             * @constructor
             * @param {google.protobuf.Any.$Properties=} [properties] Properties to set
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */
            const Any = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            /**
             * Any type_url.
             * @member {string} type_url
             * @memberof google.protobuf.Any
             * @instance
             */
            Any.prototype.type_url = "";

            /**
             * Any value.
             * @member {Uint8Array} value
             * @memberof google.protobuf.Any
             * @instance
             */
            Any.prototype.value = $util.newBuffer([]);

            /**
             * Creates a new Any instance using the specified properties.
             * @function create
             * @memberof google.protobuf.Any
             * @static
             * @param {google.protobuf.Any.$Properties=} [properties] Properties to set
             * @returns {google.protobuf.Any} Any instance
             * @type {{
             *   (properties: google.protobuf.Any.$Shape): google.protobuf.Any & google.protobuf.Any.$Shape;
             *   (properties?: google.protobuf.Any.$Properties): google.protobuf.Any;
             * }}
             */
            Any.create = function(properties) {
                return new Any(properties);
            };

            /**
             * Encodes the specified Any message. Does not implicitly {@link google.protobuf.Any.verify|verify} messages.
             * @function encode
             * @memberof google.protobuf.Any
             * @static
             * @param {google.protobuf.Any.$Properties} message Any message or plain object to encode
             * @param {$protobuf.Writer} [writer] Writer to encode to
             * @returns {$protobuf.Writer} Writer
             */
            Any.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.type_url != null && $Object.hasOwnProperty.call(message, "type_url") && message.type_url !== "")
                    writer.uint32(/* id 1, wireType 2 =*/10).string(message.type_url);
                if (message.value != null && $Object.hasOwnProperty.call(message, "value") && message.value.length)
                    writer.uint32(/* id 2, wireType 2 =*/18).bytes(message.value);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            /**
             * Decodes an Any message from the specified reader or buffer.
             * @function decode
             * @memberof google.protobuf.Any
             * @static
             * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
             * @param {number} [length] Message length if known beforehand
             * @returns {google.protobuf.Any & google.protobuf.Any.$Shape} Any
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            Any.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.google.protobuf.Any();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.type_url = value;
                            else
                                delete message.type_url;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.bytes()).length)
                                message.value = value;
                            else
                                delete message.value;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            /**
             * Gets the type url for Any
             * @function getTypeUrl
             * @memberof google.protobuf.Any
             * @static
             * @param {string} [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
             * @returns {string} The type url
             */
            Any.getTypeUrl = function(prefix) {
                if (prefix === $undefined)
                    prefix = "type.googleapis.com";
                return prefix + "/google.protobuf.Any";
            };

            return Any;
        })();

        return protobuf;
    })();

    google.rpc = (function() {

        /**
         * Namespace rpc.
         * @memberof google
         * @namespace
         */
        const rpc = {};

        rpc.Status = (function() {

            /**
             * Properties of a Status.
             * @typedef {Object} google.rpc.Status.$Properties
             * @property {number|null} [code] Status code
             * @property {string|null} [message] Status message
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */

            /**
             * Properties of a Status.
             * @memberof google.rpc
             * @interface IStatus
             * @augments google.rpc.Status.$Properties
             * @deprecated Use google.rpc.Status.$Properties instead.
             */

            /**
             * Shape of a Status.
             * @typedef {google.rpc.Status.$Properties} google.rpc.Status.$Shape
             */

            /**
             * Constructs a new Status.
             * @memberof google.rpc
             * @classdesc Represents a Status.
             * @constructor
             * @param {google.rpc.Status.$Properties=} [properties] Properties to set
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */
            const Status = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            /**
             * Status code.
             * @member {number} code
             * @memberof google.rpc.Status
             * @instance
             */
            Status.prototype.code = 0;

            /**
             * Status message.
             * @member {string} message
             * @memberof google.rpc.Status
             * @instance
             */
            Status.prototype.message = "";

            /**
             * Creates a new Status instance using the specified properties.
             * @function create
             * @memberof google.rpc.Status
             * @static
             * @param {google.rpc.Status.$Properties=} [properties] Properties to set
             * @returns {google.rpc.Status} Status instance
             * @type {{
             *   (properties: google.rpc.Status.$Shape): google.rpc.Status & google.rpc.Status.$Shape;
             *   (properties?: google.rpc.Status.$Properties): google.rpc.Status;
             * }}
             */
            Status.create = function(properties) {
                return new Status(properties);
            };

            /**
             * Encodes the specified Status message. Does not implicitly {@link google.rpc.Status.verify|verify} messages.
             * @function encode
             * @memberof google.rpc.Status
             * @static
             * @param {google.rpc.Status.$Properties} message Status message or plain object to encode
             * @param {$protobuf.Writer} [writer] Writer to encode to
             * @returns {$protobuf.Writer} Writer
             */
            Status.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.code != null && $Object.hasOwnProperty.call(message, "code") && message.code !== 0)
                    writer.uint32(/* id 1, wireType 0 =*/8).int32(message.code);
                if (message.message != null && $Object.hasOwnProperty.call(message, "message") && message.message !== "")
                    writer.uint32(/* id 2, wireType 2 =*/18).string(message.message);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            /**
             * Decodes a Status message from the specified reader or buffer.
             * @function decode
             * @memberof google.rpc.Status
             * @static
             * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
             * @param {number} [length] Message length if known beforehand
             * @returns {google.rpc.Status & google.rpc.Status.$Shape} Status
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            Status.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.google.rpc.Status();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.int32())
                                message.code = value;
                            else
                                delete message.code;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.message = value;
                            else
                                delete message.message;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            /**
             * Gets the type url for Status
             * @function getTypeUrl
             * @memberof google.rpc.Status
             * @static
             * @param {string} [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
             * @returns {string} The type url
             */
            Status.getTypeUrl = function(prefix) {
                if (prefix === $undefined)
                    prefix = "type.googleapis.com";
                return prefix + "/google.rpc.Status";
            };

            return Status;
        })();

        return rpc;
    })();

    return google;
})();

export {
  $root as default
};
