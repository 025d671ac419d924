/*eslint-disable block-scoped-var, id-length, no-control-regex, no-magic-numbers, no-mixed-operators, no-prototype-builtins, no-redeclare, no-shadow, no-var, sort-vars, default-case, jsdoc/require-param*/
import $protobuf from "protobufjs/minimal.js";

// Common aliases
const $Reader = $protobuf.Reader, $Writer = $protobuf.Writer, $util = $protobuf.util;
const $Object = $util.global.Object, $undefined = $util.global.undefined, $Error = $util.global.Error, $RangeError = $util.global.RangeError;

// Exported root namespace
const $root = $protobuf.roots["signet-istio-ca"] || ($protobuf.roots["signet-istio-ca"] = {});

export const istio = $root.istio = (() => {

    /**
     * Namespace istio.
     * @exports istio
     * @namespace
     */
    const istio = {};

    istio.v1 = (function() {

        /**
         * Namespace v1.
         * @memberof istio
         * @namespace
         */
        const v1 = {};

        v1.auth = (function() {

            /**
             * Namespace auth.
             * @memberof istio.v1
             * @namespace
             */
            const auth = {};

            auth.IstioCertificateRequest = (function() {

                /**
                 * Properties of an IstioCertificateRequest.
                 * @typedef {Object} istio.v1.auth.IstioCertificateRequest.$Properties
                 * @property {string|null} [csr] IstioCertificateRequest csr
                 * @property {number|null} [validityDuration] IstioCertificateRequest validityDuration
                 * @property {google.protobuf.Struct.$Properties|null} [metadata] IstioCertificateRequest metadata
                 * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                 */

                /**
                 * Properties of an IstioCertificateRequest.
                 * @memberof istio.v1.auth
                 * @interface IIstioCertificateRequest
                 * @augments istio.v1.auth.IstioCertificateRequest.$Properties
                 * @deprecated Use istio.v1.auth.IstioCertificateRequest.$Properties instead.
                 */

                /**
                 * Shape of an IstioCertificateRequest.
                 * @typedef {{
                 *   csr?: string|null;
                 *   validityDuration?: number|null;
                 *   metadata?: google.protobuf.Struct.$Shape|null;
                 *   $unknowns?: Array.<Uint8Array>;
                 * }} istio.v1.auth.IstioCertificateRequest.$Shape
                 */

                /**
                 * Constructs a new IstioCertificateRequest.
                 * @memberof istio.v1.auth
                 * @classdesc Represents an IstioCertificateRequest.
                 * @constructor
                 * @param {istio.v1.auth.IstioCertificateRequest.$Properties=} [properties] Properties to set
                 * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                 */
                const IstioCertificateRequest = function (properties) {
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                /**
                 * IstioCertificateRequest csr.
                 * @member {string} csr
                 * @memberof istio.v1.auth.IstioCertificateRequest
                 * @instance
                 */
                IstioCertificateRequest.prototype.csr = "";

                /**
                 * IstioCertificateRequest validityDuration.
                 * @member {number} validityDuration
                 * @memberof istio.v1.auth.IstioCertificateRequest
                 * @instance
                 */
                IstioCertificateRequest.prototype.validityDuration = $util.Long ? $util.Long.fromBits(0,0,false) : 0;

                /**
                 * IstioCertificateRequest metadata.
                 * @member {google.protobuf.Struct.$Properties|null|undefined} metadata
                 * @memberof istio.v1.auth.IstioCertificateRequest
                 * @instance
                 */
                IstioCertificateRequest.prototype.metadata = null;

                /**
                 * Creates a new IstioCertificateRequest instance using the specified properties.
                 * @function create
                 * @memberof istio.v1.auth.IstioCertificateRequest
                 * @static
                 * @param {istio.v1.auth.IstioCertificateRequest.$Properties=} [properties] Properties to set
                 * @returns {istio.v1.auth.IstioCertificateRequest} IstioCertificateRequest instance
                 * @type {{
                 *   (properties: istio.v1.auth.IstioCertificateRequest.$Shape): istio.v1.auth.IstioCertificateRequest & istio.v1.auth.IstioCertificateRequest.$Shape;
                 *   (properties?: istio.v1.auth.IstioCertificateRequest.$Properties): istio.v1.auth.IstioCertificateRequest;
                 * }}
                 */
                IstioCertificateRequest.create = function(properties) {
                    return new IstioCertificateRequest(properties);
                };

                /**
                 * Encodes the specified IstioCertificateRequest message. Does not implicitly {@link istio.v1.auth.IstioCertificateRequest.verify|verify} messages.
                 * @function encode
                 * @memberof istio.v1.auth.IstioCertificateRequest
                 * @static
                 * @param {istio.v1.auth.IstioCertificateRequest.$Properties} message IstioCertificateRequest message or plain object to encode
                 * @param {$protobuf.Writer} [writer] Writer to encode to
                 * @returns {$protobuf.Writer} Writer
                 */
                IstioCertificateRequest.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.csr != null && $Object.hasOwnProperty.call(message, "csr") && message.csr !== "")
                        writer.uint32(/* id 1, wireType 2 =*/10).string(message.csr);
                    if (message.validityDuration != null && $Object.hasOwnProperty.call(message, "validityDuration") && (typeof message.validityDuration === "object" ? message.validityDuration.low || message.validityDuration.high : message.validityDuration !== 0))
                        writer.uint32(/* id 3, wireType 0 =*/24).int64(message.validityDuration);
                    if (message.metadata != null && $Object.hasOwnProperty.call(message, "metadata"))
                        $root.google.protobuf.Struct.encode(message.metadata, writer.uint32(/* id 4, wireType 2 =*/34).fork(), _depth + 1).ldelim();
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                /**
                 * Decodes an IstioCertificateRequest message from the specified reader or buffer.
                 * @function decode
                 * @memberof istio.v1.auth.IstioCertificateRequest
                 * @static
                 * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
                 * @param {number} [length] Message length if known beforehand
                 * @returns {istio.v1.auth.IstioCertificateRequest & istio.v1.auth.IstioCertificateRequest.$Shape} IstioCertificateRequest
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                IstioCertificateRequest.decode = function (reader, length, _end, _depth, _target) {
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
                    message = _target || new $root.istio.v1.auth.IstioCertificateRequest();
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
                                    message.csr = value;
                                else
                                    delete message.csr;
                                continue;
                            }
                        case 3: {
                                if (wireType !== 0)
                                    break;
                                if (typeof (value = reader.int64()) === "object" ? value.low || value.high : value !== 0)
                                    message.validityDuration = value;
                                else
                                    delete message.validityDuration;
                                continue;
                            }
                        case 4: {
                                if (wireType !== 2)
                                    break;
                                message.metadata = $root.google.protobuf.Struct.decode(reader, reader.size(), $undefined, _depth + 1, message.metadata);
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
                 * Gets the type url for IstioCertificateRequest
                 * @function getTypeUrl
                 * @memberof istio.v1.auth.IstioCertificateRequest
                 * @static
                 * @param {string} [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                 * @returns {string} The type url
                 */
                IstioCertificateRequest.getTypeUrl = function(prefix) {
                    if (prefix === $undefined)
                        prefix = "type.googleapis.com";
                    return prefix + "/istio.v1.auth.IstioCertificateRequest";
                };

                return IstioCertificateRequest;
            })();

            auth.IstioCertificateResponse = (function() {

                /**
                 * Properties of an IstioCertificateResponse.
                 * @typedef {Object} istio.v1.auth.IstioCertificateResponse.$Properties
                 * @property {Array.<string>|null} [certChain] IstioCertificateResponse certChain
                 * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                 */

                /**
                 * Properties of an IstioCertificateResponse.
                 * @memberof istio.v1.auth
                 * @interface IIstioCertificateResponse
                 * @augments istio.v1.auth.IstioCertificateResponse.$Properties
                 * @deprecated Use istio.v1.auth.IstioCertificateResponse.$Properties instead.
                 */

                /**
                 * Shape of an IstioCertificateResponse.
                 * @typedef {istio.v1.auth.IstioCertificateResponse.$Properties} istio.v1.auth.IstioCertificateResponse.$Shape
                 */

                /**
                 * Constructs a new IstioCertificateResponse.
                 * @memberof istio.v1.auth
                 * @classdesc Represents an IstioCertificateResponse.
                 * @constructor
                 * @param {istio.v1.auth.IstioCertificateResponse.$Properties=} [properties] Properties to set
                 * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                 */
                const IstioCertificateResponse = function (properties) {
                    this.certChain = [];
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                /**
                 * IstioCertificateResponse certChain.
                 * @member {Array.<string>} certChain
                 * @memberof istio.v1.auth.IstioCertificateResponse
                 * @instance
                 */
                IstioCertificateResponse.prototype.certChain = $util.emptyArray;

                /**
                 * Creates a new IstioCertificateResponse instance using the specified properties.
                 * @function create
                 * @memberof istio.v1.auth.IstioCertificateResponse
                 * @static
                 * @param {istio.v1.auth.IstioCertificateResponse.$Properties=} [properties] Properties to set
                 * @returns {istio.v1.auth.IstioCertificateResponse} IstioCertificateResponse instance
                 * @type {{
                 *   (properties: istio.v1.auth.IstioCertificateResponse.$Shape): istio.v1.auth.IstioCertificateResponse & istio.v1.auth.IstioCertificateResponse.$Shape;
                 *   (properties?: istio.v1.auth.IstioCertificateResponse.$Properties): istio.v1.auth.IstioCertificateResponse;
                 * }}
                 */
                IstioCertificateResponse.create = function(properties) {
                    return new IstioCertificateResponse(properties);
                };

                /**
                 * Encodes the specified IstioCertificateResponse message. Does not implicitly {@link istio.v1.auth.IstioCertificateResponse.verify|verify} messages.
                 * @function encode
                 * @memberof istio.v1.auth.IstioCertificateResponse
                 * @static
                 * @param {istio.v1.auth.IstioCertificateResponse.$Properties} message IstioCertificateResponse message or plain object to encode
                 * @param {$protobuf.Writer} [writer] Writer to encode to
                 * @returns {$protobuf.Writer} Writer
                 */
                IstioCertificateResponse.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.certChain != null && message.certChain.length)
                        for (let i = 0; i < message.certChain.length; ++i)
                            writer.uint32(/* id 1, wireType 2 =*/10).string(message.certChain[i]);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                /**
                 * Decodes an IstioCertificateResponse message from the specified reader or buffer.
                 * @function decode
                 * @memberof istio.v1.auth.IstioCertificateResponse
                 * @static
                 * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
                 * @param {number} [length] Message length if known beforehand
                 * @returns {istio.v1.auth.IstioCertificateResponse & istio.v1.auth.IstioCertificateResponse.$Shape} IstioCertificateResponse
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                IstioCertificateResponse.decode = function (reader, length, _end, _depth, _target) {
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
                    message = _target || new $root.istio.v1.auth.IstioCertificateResponse();
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
                                if (!(message.certChain && message.certChain.length))
                                    message.certChain = [];
                                message.certChain.push(reader.stringVerify());
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
                 * Gets the type url for IstioCertificateResponse
                 * @function getTypeUrl
                 * @memberof istio.v1.auth.IstioCertificateResponse
                 * @static
                 * @param {string} [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                 * @returns {string} The type url
                 */
                IstioCertificateResponse.getTypeUrl = function(prefix) {
                    if (prefix === $undefined)
                        prefix = "type.googleapis.com";
                    return prefix + "/istio.v1.auth.IstioCertificateResponse";
                };

                return IstioCertificateResponse;
            })();

            return auth;
        })();

        return v1;
    })();

    return istio;
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

        protobuf.Struct = (function() {

            /**
             * Properties of a Struct.
             * @typedef {Object} google.protobuf.Struct.$Properties
             * @property {Object.<string,google.protobuf.Value.$Properties>|null} [fields] Struct fields
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */

            /**
             * Properties of a Struct.
             * @memberof google.protobuf
             * @interface IStruct
             * @augments google.protobuf.Struct.$Properties
             * @deprecated Use google.protobuf.Struct.$Properties instead.
             */

            /**
             * Shape of a Struct.
             * @typedef {{
             *   fields?: Object.<string,google.protobuf.Value.$Shape>|null;
             *   $unknowns?: Array.<Uint8Array>;
             * }} google.protobuf.Struct.$Shape
             */

            /**
             * Constructs a new Struct.
             * @memberof google.protobuf
             * @classdesc Represents a Struct.
             * @constructor
             * @param {google.protobuf.Struct.$Properties=} [properties] Properties to set
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */
            const Struct = function (properties) {
                this.fields = {};
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            /**
             * Struct fields.
             * @member {Object.<string,google.protobuf.Value.$Properties>} fields
             * @memberof google.protobuf.Struct
             * @instance
             */
            Struct.prototype.fields = $util.emptyObject;

            /**
             * Creates a new Struct instance using the specified properties.
             * @function create
             * @memberof google.protobuf.Struct
             * @static
             * @param {google.protobuf.Struct.$Properties=} [properties] Properties to set
             * @returns {google.protobuf.Struct} Struct instance
             * @type {{
             *   (properties: google.protobuf.Struct.$Shape): google.protobuf.Struct & google.protobuf.Struct.$Shape;
             *   (properties?: google.protobuf.Struct.$Properties): google.protobuf.Struct;
             * }}
             */
            Struct.create = function(properties) {
                return new Struct(properties);
            };

            /**
             * Encodes the specified Struct message. Does not implicitly {@link google.protobuf.Struct.verify|verify} messages.
             * @function encode
             * @memberof google.protobuf.Struct
             * @static
             * @param {google.protobuf.Struct.$Properties} message Struct message or plain object to encode
             * @param {$protobuf.Writer} [writer] Writer to encode to
             * @returns {$protobuf.Writer} Writer
             */
            Struct.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.fields != null && $Object.hasOwnProperty.call(message, "fields"))
                    for (let keys = $Object.keys(message.fields), i = 0; i < keys.length; ++i) {
                        writer.uint32(/* id 1, wireType 2 =*/10).fork().uint32(/* id 1, wireType 2 =*/10).string(keys[i]);
                        $root.google.protobuf.Value.encode(message.fields[keys[i]], writer.uint32(/* id 2, wireType 2 =*/18).fork(), _depth + 1).ldelim().ldelim();
                    }
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            /**
             * Decodes a Struct message from the specified reader or buffer.
             * @function decode
             * @memberof google.protobuf.Struct
             * @static
             * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
             * @param {number} [length] Message length if known beforehand
             * @returns {google.protobuf.Struct & google.protobuf.Struct.$Shape} Struct
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            Struct.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.google.protobuf.Struct();
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
                            if (message.fields === $util.emptyObject)
                                message.fields = {};
                            let end2 = reader.size() + reader.pos;
                            if (end2 > reader.len)
                                throw $RangeError("index out of range");
                            reader.len = end2;
                            key = "";
                            value = null;
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
                                    value = $root.google.protobuf.Value.decode(reader, reader.size(), $undefined, _depth + 1, value);
                                    continue;
                                }
                                reader.skipType(wireType, _depth, tag2);
                            }
                            if (reader.pos !== end2)
                                throw $RangeError("index out of range");
                            reader.len = end;
                            if (key === "__proto__")
                                $util.makeProp(message.fields, key);
                            message.fields[key] = value || new $root.google.protobuf.Value();
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
             * Gets the type url for Struct
             * @function getTypeUrl
             * @memberof google.protobuf.Struct
             * @static
             * @param {string} [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
             * @returns {string} The type url
             */
            Struct.getTypeUrl = function(prefix) {
                if (prefix === $undefined)
                    prefix = "type.googleapis.com";
                return prefix + "/google.protobuf.Struct";
            };

            return Struct;
        })();

        protobuf.Value = (function() {

            /**
             * Properties of a Value.
             * @typedef {Object} google.protobuf.Value.$Properties
             * @property {google.protobuf.NullValue|null} [nullValue] Value nullValue
             * @property {number|null} [numberValue] Value numberValue
             * @property {string|null} [stringValue] Value stringValue
             * @property {boolean|null} [boolValue] Value boolValue
             * @property {google.protobuf.Struct.$Properties|null} [structValue] Value structValue
             * @property {google.protobuf.ListValue.$Properties|null} [listValue] Value listValue
             * @property {"nullValue"|"numberValue"|"stringValue"|"boolValue"|"structValue"|"listValue"} [kind] Value kind
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */

            /**
             * Properties of a Value.
             * @memberof google.protobuf
             * @interface IValue
             * @augments google.protobuf.Value.$Properties
             * @deprecated Use google.protobuf.Value.$Properties instead.
             */

            /**
             * Narrowed shape of a Value.
             * @typedef {{
             *   nullValue?: google.protobuf.NullValue|null;
             *   numberValue?: number|null;
             *   stringValue?: string|null;
             *   boolValue?: boolean|null;
             *   structValue?: google.protobuf.Struct.$Shape|null;
             *   listValue?: google.protobuf.ListValue.$Shape|null;
             *   $unknowns?: Array.<Uint8Array>;
             * } & (
             *   ({ kind?: undefined; nullValue?: null; numberValue?: null; stringValue?: null; boolValue?: null; structValue?: null; listValue?: null }|{ kind?: "nullValue"; nullValue: google.protobuf.NullValue; numberValue?: null; stringValue?: null; boolValue?: null; structValue?: null; listValue?: null }|{ kind?: "numberValue"; nullValue?: null; numberValue: number; stringValue?: null; boolValue?: null; structValue?: null; listValue?: null }|{ kind?: "stringValue"; nullValue?: null; numberValue?: null; stringValue: string; boolValue?: null; structValue?: null; listValue?: null }|{ kind?: "boolValue"; nullValue?: null; numberValue?: null; stringValue?: null; boolValue: boolean; structValue?: null; listValue?: null }|{ kind?: "structValue"; nullValue?: null; numberValue?: null; stringValue?: null; boolValue?: null; structValue: google.protobuf.Struct.$Shape; listValue?: null }|{ kind?: "listValue"; nullValue?: null; numberValue?: null; stringValue?: null; boolValue?: null; structValue?: null; listValue: google.protobuf.ListValue.$Shape })
             * )} google.protobuf.Value.$Shape
             */

            /**
             * Constructs a new Value.
             * @memberof google.protobuf
             * @classdesc Represents a Value.
             * @constructor
             * @param {google.protobuf.Value.$Properties=} [properties] Properties to set
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */
            const Value = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            /**
             * Value nullValue.
             * @member {google.protobuf.NullValue|null|undefined} nullValue
             * @memberof google.protobuf.Value
             * @instance
             */
            Value.prototype.nullValue = null;

            /**
             * Value numberValue.
             * @member {number|null|undefined} numberValue
             * @memberof google.protobuf.Value
             * @instance
             */
            Value.prototype.numberValue = null;

            /**
             * Value stringValue.
             * @member {string|null|undefined} stringValue
             * @memberof google.protobuf.Value
             * @instance
             */
            Value.prototype.stringValue = null;

            /**
             * Value boolValue.
             * @member {boolean|null|undefined} boolValue
             * @memberof google.protobuf.Value
             * @instance
             */
            Value.prototype.boolValue = null;

            /**
             * Value structValue.
             * @member {google.protobuf.Struct.$Properties|null|undefined} structValue
             * @memberof google.protobuf.Value
             * @instance
             */
            Value.prototype.structValue = null;

            /**
             * Value listValue.
             * @member {google.protobuf.ListValue.$Properties|null|undefined} listValue
             * @memberof google.protobuf.Value
             * @instance
             */
            Value.prototype.listValue = null;

            // OneOf field names bound to virtual getters and setters
            let $oneOfFields;

            /**
             * Value kind.
             * @member {"nullValue"|"numberValue"|"stringValue"|"boolValue"|"structValue"|"listValue"|undefined} kind
             * @memberof google.protobuf.Value
             * @instance
             */
            $Object.defineProperty(Value.prototype, "kind", {
                get: $util.oneOfGetter($oneOfFields = ["nullValue", "numberValue", "stringValue", "boolValue", "structValue", "listValue"]),
                set: $util.oneOfSetter($oneOfFields)
            });

            /**
             * Creates a new Value instance using the specified properties.
             * @function create
             * @memberof google.protobuf.Value
             * @static
             * @param {google.protobuf.Value.$Properties=} [properties] Properties to set
             * @returns {google.protobuf.Value} Value instance
             * @type {{
             *   (properties: google.protobuf.Value.$Shape): google.protobuf.Value & google.protobuf.Value.$Shape;
             *   (properties?: google.protobuf.Value.$Properties): google.protobuf.Value;
             * }}
             */
            Value.create = function(properties) {
                return new Value(properties);
            };

            /**
             * Encodes the specified Value message. Does not implicitly {@link google.protobuf.Value.verify|verify} messages.
             * @function encode
             * @memberof google.protobuf.Value
             * @static
             * @param {google.protobuf.Value.$Properties} message Value message or plain object to encode
             * @param {$protobuf.Writer} [writer] Writer to encode to
             * @returns {$protobuf.Writer} Writer
             */
            Value.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.nullValue != null && $Object.hasOwnProperty.call(message, "nullValue"))
                    writer.uint32(/* id 1, wireType 0 =*/8).int32(message.nullValue);
                if (message.numberValue != null && $Object.hasOwnProperty.call(message, "numberValue"))
                    writer.uint32(/* id 2, wireType 1 =*/17).double(message.numberValue);
                if (message.stringValue != null && $Object.hasOwnProperty.call(message, "stringValue"))
                    writer.uint32(/* id 3, wireType 2 =*/26).string(message.stringValue);
                if (message.boolValue != null && $Object.hasOwnProperty.call(message, "boolValue"))
                    writer.uint32(/* id 4, wireType 0 =*/32).bool(message.boolValue);
                if (message.structValue != null && $Object.hasOwnProperty.call(message, "structValue"))
                    $root.google.protobuf.Struct.encode(message.structValue, writer.uint32(/* id 5, wireType 2 =*/42).fork(), _depth + 1).ldelim();
                if (message.listValue != null && $Object.hasOwnProperty.call(message, "listValue"))
                    $root.google.protobuf.ListValue.encode(message.listValue, writer.uint32(/* id 6, wireType 2 =*/50).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            /**
             * Decodes a Value message from the specified reader or buffer.
             * @function decode
             * @memberof google.protobuf.Value
             * @static
             * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
             * @param {number} [length] Message length if known beforehand
             * @returns {google.protobuf.Value & google.protobuf.Value.$Shape} Value
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            Value.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.google.protobuf.Value();
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
                            message.nullValue = reader.int32();
                            message.kind = "nullValue";
                            continue;
                        }
                    case 2: {
                            if (wireType !== 1)
                                break;
                            message.numberValue = reader.double();
                            message.kind = "numberValue";
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            message.stringValue = reader.stringVerify();
                            message.kind = "stringValue";
                            continue;
                        }
                    case 4: {
                            if (wireType !== 0)
                                break;
                            message.boolValue = reader.bool();
                            message.kind = "boolValue";
                            continue;
                        }
                    case 5: {
                            if (wireType !== 2)
                                break;
                            message.structValue = $root.google.protobuf.Struct.decode(reader, reader.size(), $undefined, _depth + 1, message.structValue);
                            message.kind = "structValue";
                            continue;
                        }
                    case 6: {
                            if (wireType !== 2)
                                break;
                            message.listValue = $root.google.protobuf.ListValue.decode(reader, reader.size(), $undefined, _depth + 1, message.listValue);
                            message.kind = "listValue";
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
             * Gets the type url for Value
             * @function getTypeUrl
             * @memberof google.protobuf.Value
             * @static
             * @param {string} [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
             * @returns {string} The type url
             */
            Value.getTypeUrl = function(prefix) {
                if (prefix === $undefined)
                    prefix = "type.googleapis.com";
                return prefix + "/google.protobuf.Value";
            };

            return Value;
        })();

        /**
         * NullValue enum.
         * @name google.protobuf.NullValue
         * @enum {number}
         * @property {number} NULL_VALUE=0 NULL_VALUE value
         */
        protobuf.NullValue = (function() {
            const valuesById = $Object.create(null), values = $Object.create(valuesById);
            values[valuesById[0] = "NULL_VALUE"] = 0;
            return values;
        })();

        protobuf.ListValue = (function() {

            /**
             * Properties of a ListValue.
             * @typedef {Object} google.protobuf.ListValue.$Properties
             * @property {Array.<google.protobuf.Value.$Properties>|null} [values] ListValue values
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */

            /**
             * Properties of a ListValue.
             * @memberof google.protobuf
             * @interface IListValue
             * @augments google.protobuf.ListValue.$Properties
             * @deprecated Use google.protobuf.ListValue.$Properties instead.
             */

            /**
             * Shape of a ListValue.
             * @typedef {{
             *   values?: Array.<google.protobuf.Value.$Shape>|null;
             *   $unknowns?: Array.<Uint8Array>;
             * }} google.protobuf.ListValue.$Shape
             */

            /**
             * Constructs a new ListValue.
             * @memberof google.protobuf
             * @classdesc Represents a ListValue.
             * @constructor
             * @param {google.protobuf.ListValue.$Properties=} [properties] Properties to set
             * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
             */
            const ListValue = function (properties) {
                this.values = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            /**
             * ListValue values.
             * @member {Array.<google.protobuf.Value.$Properties>} values
             * @memberof google.protobuf.ListValue
             * @instance
             */
            ListValue.prototype.values = $util.emptyArray;

            /**
             * Creates a new ListValue instance using the specified properties.
             * @function create
             * @memberof google.protobuf.ListValue
             * @static
             * @param {google.protobuf.ListValue.$Properties=} [properties] Properties to set
             * @returns {google.protobuf.ListValue} ListValue instance
             * @type {{
             *   (properties: google.protobuf.ListValue.$Shape): google.protobuf.ListValue & google.protobuf.ListValue.$Shape;
             *   (properties?: google.protobuf.ListValue.$Properties): google.protobuf.ListValue;
             * }}
             */
            ListValue.create = function(properties) {
                return new ListValue(properties);
            };

            /**
             * Encodes the specified ListValue message. Does not implicitly {@link google.protobuf.ListValue.verify|verify} messages.
             * @function encode
             * @memberof google.protobuf.ListValue
             * @static
             * @param {google.protobuf.ListValue.$Properties} message ListValue message or plain object to encode
             * @param {$protobuf.Writer} [writer] Writer to encode to
             * @returns {$protobuf.Writer} Writer
             */
            ListValue.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.values != null && message.values.length)
                    for (let i = 0; i < message.values.length; ++i)
                        $root.google.protobuf.Value.encode(message.values[i], writer.uint32(/* id 1, wireType 2 =*/10).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            /**
             * Decodes a ListValue message from the specified reader or buffer.
             * @function decode
             * @memberof google.protobuf.ListValue
             * @static
             * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
             * @param {number} [length] Message length if known beforehand
             * @returns {google.protobuf.ListValue & google.protobuf.ListValue.$Shape} ListValue
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            ListValue.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.google.protobuf.ListValue();
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
                            if (!(message.values && message.values.length))
                                message.values = [];
                            message.values.push($root.google.protobuf.Value.decode(reader, reader.size(), $undefined, _depth + 1));
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
             * Gets the type url for ListValue
             * @function getTypeUrl
             * @memberof google.protobuf.ListValue
             * @static
             * @param {string} [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
             * @returns {string} The type url
             */
            ListValue.getTypeUrl = function(prefix) {
                if (prefix === $undefined)
                    prefix = "type.googleapis.com";
                return prefix + "/google.protobuf.ListValue";
            };

            return ListValue;
        })();

        return protobuf;
    })();

    return google;
})();

export {
  $root as default
};
