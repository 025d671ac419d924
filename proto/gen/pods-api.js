/*eslint-disable block-scoped-var, id-length, no-control-regex, no-magic-numbers, no-mixed-operators, no-prototype-builtins, no-redeclare, no-shadow, no-var, sort-vars, default-case, jsdoc/require-param*/
import $protobuf from "protobufjs/minimal.js";

// Common aliases
const $Reader = $protobuf.Reader, $Writer = $protobuf.Writer, $util = $protobuf.util;
const $Object = $util.global.Object, $undefined = $util.global.undefined, $Error = $util.global.Error, $RangeError = $util.global.RangeError;

// Exported root namespace
const $root = $protobuf.roots["signet-pods-api"] || ($protobuf.roots["signet-pods-api"] = {});

export const v1alpha1 = $root.v1alpha1 = (() => {

    /**
     * Namespace v1alpha1.
     * @exports v1alpha1
     * @namespace
     */
    const v1alpha1 = {};

    /**
     * EventType enum.
     * @name v1alpha1.EventType
     * @enum {number}
     * @property {number} EVENT_TYPE_UNSPECIFIED=0 EVENT_TYPE_UNSPECIFIED value
     * @property {number} ADDED=1 ADDED value
     * @property {number} MODIFIED=2 MODIFIED value
     * @property {number} DELETED=3 DELETED value
     * @property {number} INITIAL_SYNC_COMPLETE=4 INITIAL_SYNC_COMPLETE value
     */
    v1alpha1.EventType = (function() {
        const valuesById = $Object.create(null), values = $Object.create(valuesById);
        values[valuesById[0] = "EVENT_TYPE_UNSPECIFIED"] = 0;
        values[valuesById[1] = "ADDED"] = 1;
        values[valuesById[2] = "MODIFIED"] = 2;
        values[valuesById[3] = "DELETED"] = 3;
        values[valuesById[4] = "INITIAL_SYNC_COMPLETE"] = 4;
        return values;
    })();

    v1alpha1.WatchPodsEvent = (function() {

        /**
         * Properties of a WatchPodsEvent.
         * @typedef {Object} v1alpha1.WatchPodsEvent.$Properties
         * @property {v1alpha1.EventType|null} [type] WatchPodsEvent type
         * @property {Uint8Array|null} [pod] WatchPodsEvent pod
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */

        /**
         * Properties of a WatchPodsEvent.
         * @memberof v1alpha1
         * @interface IWatchPodsEvent
         * @augments v1alpha1.WatchPodsEvent.$Properties
         * @deprecated Use v1alpha1.WatchPodsEvent.$Properties instead.
         */

        /**
         * Shape of a WatchPodsEvent.
         * @typedef {v1alpha1.WatchPodsEvent.$Properties} v1alpha1.WatchPodsEvent.$Shape
         */

        /**
         * Constructs a new WatchPodsEvent.
         * @memberof v1alpha1
         * @classdesc Represents a WatchPodsEvent.
         * @constructor
         * @param {v1alpha1.WatchPodsEvent.$Properties=} [properties] Properties to set
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */
        const WatchPodsEvent = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        /**
         * WatchPodsEvent type.
         * @member {v1alpha1.EventType} type
         * @memberof v1alpha1.WatchPodsEvent
         * @instance
         */
        WatchPodsEvent.prototype.type = 0;

        /**
         * WatchPodsEvent pod.
         * @member {Uint8Array} pod
         * @memberof v1alpha1.WatchPodsEvent
         * @instance
         */
        WatchPodsEvent.prototype.pod = $util.newBuffer([]);

        /**
         * Creates a new WatchPodsEvent instance using the specified properties.
         * @function create
         * @memberof v1alpha1.WatchPodsEvent
         * @static
         * @param {v1alpha1.WatchPodsEvent.$Properties=} [properties] Properties to set
         * @returns {v1alpha1.WatchPodsEvent} WatchPodsEvent instance
         * @type {{
         *   (properties: v1alpha1.WatchPodsEvent.$Shape): v1alpha1.WatchPodsEvent & v1alpha1.WatchPodsEvent.$Shape;
         *   (properties?: v1alpha1.WatchPodsEvent.$Properties): v1alpha1.WatchPodsEvent;
         * }}
         */
        WatchPodsEvent.create = function(properties) {
            return new WatchPodsEvent(properties);
        };

        /**
         * Encodes the specified WatchPodsEvent message. Does not implicitly {@link v1alpha1.WatchPodsEvent.verify|verify} messages.
         * @function encode
         * @memberof v1alpha1.WatchPodsEvent
         * @static
         * @param {v1alpha1.WatchPodsEvent.$Properties} message WatchPodsEvent message or plain object to encode
         * @param {$protobuf.Writer} [writer] Writer to encode to
         * @returns {$protobuf.Writer} Writer
         */
        WatchPodsEvent.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.type != null && $Object.hasOwnProperty.call(message, "type") && message.type !== 0)
                writer.uint32(/* id 1, wireType 0 =*/8).int32(message.type);
            if (message.pod != null && $Object.hasOwnProperty.call(message, "pod") && message.pod.length)
                writer.uint32(/* id 2, wireType 2 =*/18).bytes(message.pod);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        /**
         * Decodes a WatchPodsEvent message from the specified reader or buffer.
         * @function decode
         * @memberof v1alpha1.WatchPodsEvent
         * @static
         * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
         * @param {number} [length] Message length if known beforehand
         * @returns {v1alpha1.WatchPodsEvent & v1alpha1.WatchPodsEvent.$Shape} WatchPodsEvent
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        WatchPodsEvent.decode = function (reader, length, _end, _depth, _target) {
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
            message = _target || new $root.v1alpha1.WatchPodsEvent();
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
                            message.type = value;
                        else
                            delete message.type;
                        continue;
                    }
                case 2: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.bytes()).length)
                            message.pod = value;
                        else
                            delete message.pod;
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
         * Gets the type url for WatchPodsEvent
         * @function getTypeUrl
         * @memberof v1alpha1.WatchPodsEvent
         * @static
         * @param {string} [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
         * @returns {string} The type url
         */
        WatchPodsEvent.getTypeUrl = function(prefix) {
            if (prefix === $undefined)
                prefix = "type.googleapis.com";
            return prefix + "/v1alpha1.WatchPodsEvent";
        };

        return WatchPodsEvent;
    })();

    return v1alpha1;
})();

export const k8s = $root.k8s = (() => {

    /**
     * Namespace k8s.
     * @exports k8s
     * @namespace
     */
    const k8s = {};

    k8s.io = (function() {

        /**
         * Namespace io.
         * @memberof k8s
         * @namespace
         */
        const io = {};

        io.api = (function() {

            /**
             * Namespace api.
             * @memberof k8s.io
             * @namespace
             */
            const api = {};

            api.core = (function() {

                /**
                 * Namespace core.
                 * @memberof k8s.io.api
                 * @namespace
                 */
                const core = {};

                core.v1 = (function() {

                    /**
                     * Namespace v1.
                     * @memberof k8s.io.api.core
                     * @namespace
                     */
                    const v1 = {};

                    v1.Pod = (function() {

                        /**
                         * Properties of a Pod.
                         * @typedef {Object} k8s.io.api.core.v1.Pod.$Properties
                         * @property {k8s.io.api.core.v1.ObjectMeta.$Properties|null} [metadata] Pod metadata
                         * @property {k8s.io.api.core.v1.PodSpec.$Properties|null} [spec] Pod spec
                         * @property {k8s.io.api.core.v1.PodStatus.$Properties|null} [status] Pod status
                         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                         */

                        /**
                         * Properties of a Pod.
                         * @memberof k8s.io.api.core.v1
                         * @interface IPod
                         * @augments k8s.io.api.core.v1.Pod.$Properties
                         * @deprecated Use k8s.io.api.core.v1.Pod.$Properties instead.
                         */

                        /**
                         * Shape of a Pod.
                         * @typedef {k8s.io.api.core.v1.Pod.$Properties} k8s.io.api.core.v1.Pod.$Shape
                         */

                        /**
                         * Constructs a new Pod.
                         * @memberof k8s.io.api.core.v1
                         * @classdesc Represents a Pod.
                         * @constructor
                         * @param {k8s.io.api.core.v1.Pod.$Properties=} [properties] Properties to set
                         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                         */
                        const Pod = function (properties) {
                            if (properties)
                                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                        this[keys[i]] = properties[keys[i]];
                        };

                        /**
                         * Pod metadata.
                         * @member {k8s.io.api.core.v1.ObjectMeta.$Properties|null|undefined} metadata
                         * @memberof k8s.io.api.core.v1.Pod
                         * @instance
                         */
                        Pod.prototype.metadata = null;

                        /**
                         * Pod spec.
                         * @member {k8s.io.api.core.v1.PodSpec.$Properties|null|undefined} spec
                         * @memberof k8s.io.api.core.v1.Pod
                         * @instance
                         */
                        Pod.prototype.spec = null;

                        /**
                         * Pod status.
                         * @member {k8s.io.api.core.v1.PodStatus.$Properties|null|undefined} status
                         * @memberof k8s.io.api.core.v1.Pod
                         * @instance
                         */
                        Pod.prototype.status = null;

                        /**
                         * Creates a new Pod instance using the specified properties.
                         * @function create
                         * @memberof k8s.io.api.core.v1.Pod
                         * @static
                         * @param {k8s.io.api.core.v1.Pod.$Properties=} [properties] Properties to set
                         * @returns {k8s.io.api.core.v1.Pod} Pod instance
                         * @type {{
                         *   (properties: k8s.io.api.core.v1.Pod.$Shape): k8s.io.api.core.v1.Pod & k8s.io.api.core.v1.Pod.$Shape;
                         *   (properties?: k8s.io.api.core.v1.Pod.$Properties): k8s.io.api.core.v1.Pod;
                         * }}
                         */
                        Pod.create = function(properties) {
                            return new Pod(properties);
                        };

                        /**
                         * Encodes the specified Pod message. Does not implicitly {@link k8s.io.api.core.v1.Pod.verify|verify} messages.
                         * @function encode
                         * @memberof k8s.io.api.core.v1.Pod
                         * @static
                         * @param {k8s.io.api.core.v1.Pod.$Properties} message Pod message or plain object to encode
                         * @param {$protobuf.Writer} [writer] Writer to encode to
                         * @returns {$protobuf.Writer} Writer
                         */
                        Pod.encode = function (message, writer, _depth) {
                            if (!writer)
                                writer = $Writer.create();
                            if (_depth === $undefined)
                                _depth = 0;
                            if (_depth > $util.recursionLimit)
                                throw $Error("max depth exceeded");
                            if (message.metadata != null && $Object.hasOwnProperty.call(message, "metadata"))
                                $root.k8s.io.api.core.v1.ObjectMeta.encode(message.metadata, writer.uint32(/* id 1, wireType 2 =*/10).fork(), _depth + 1).ldelim();
                            if (message.spec != null && $Object.hasOwnProperty.call(message, "spec"))
                                $root.k8s.io.api.core.v1.PodSpec.encode(message.spec, writer.uint32(/* id 2, wireType 2 =*/18).fork(), _depth + 1).ldelim();
                            if (message.status != null && $Object.hasOwnProperty.call(message, "status"))
                                $root.k8s.io.api.core.v1.PodStatus.encode(message.status, writer.uint32(/* id 3, wireType 2 =*/26).fork(), _depth + 1).ldelim();
                            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                                for (let i = 0; i < message.$unknowns.length; ++i)
                                    writer.raw(message.$unknowns[i]);
                            return writer;
                        };

                        /**
                         * Decodes a Pod message from the specified reader or buffer.
                         * @function decode
                         * @memberof k8s.io.api.core.v1.Pod
                         * @static
                         * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
                         * @param {number} [length] Message length if known beforehand
                         * @returns {k8s.io.api.core.v1.Pod & k8s.io.api.core.v1.Pod.$Shape} Pod
                         * @throws {Error} If the payload is not a reader or valid buffer
                         * @throws {$protobuf.util.ProtocolError} If required fields are missing
                         */
                        Pod.decode = function (reader, length, _end, _depth, _target) {
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
                            message = _target || new $root.k8s.io.api.core.v1.Pod();
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
                                        message.metadata = $root.k8s.io.api.core.v1.ObjectMeta.decode(reader, reader.size(), $undefined, _depth + 1, message.metadata);
                                        continue;
                                    }
                                case 2: {
                                        if (wireType !== 2)
                                            break;
                                        message.spec = $root.k8s.io.api.core.v1.PodSpec.decode(reader, reader.size(), $undefined, _depth + 1, message.spec);
                                        continue;
                                    }
                                case 3: {
                                        if (wireType !== 2)
                                            break;
                                        message.status = $root.k8s.io.api.core.v1.PodStatus.decode(reader, reader.size(), $undefined, _depth + 1, message.status);
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
                         * Gets the type url for Pod
                         * @function getTypeUrl
                         * @memberof k8s.io.api.core.v1.Pod
                         * @static
                         * @param {string} [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                         * @returns {string} The type url
                         */
                        Pod.getTypeUrl = function(prefix) {
                            if (prefix === $undefined)
                                prefix = "type.googleapis.com";
                            return prefix + "/k8s.io.api.core.v1.Pod";
                        };

                        return Pod;
                    })();

                    v1.ObjectMeta = (function() {

                        /**
                         * Properties of an ObjectMeta.
                         * @typedef {Object} k8s.io.api.core.v1.ObjectMeta.$Properties
                         * @property {string|null} [name] ObjectMeta name
                         * @property {string|null} [namespace] ObjectMeta namespace
                         * @property {string|null} [uid] ObjectMeta uid
                         * @property {Object.<string,string>|null} [labels] ObjectMeta labels
                         * @property {Object.<string,string>|null} [annotations] ObjectMeta annotations
                         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                         */

                        /**
                         * Properties of an ObjectMeta.
                         * @memberof k8s.io.api.core.v1
                         * @interface IObjectMeta
                         * @augments k8s.io.api.core.v1.ObjectMeta.$Properties
                         * @deprecated Use k8s.io.api.core.v1.ObjectMeta.$Properties instead.
                         */

                        /**
                         * Shape of an ObjectMeta.
                         * @typedef {k8s.io.api.core.v1.ObjectMeta.$Properties} k8s.io.api.core.v1.ObjectMeta.$Shape
                         */

                        /**
                         * Constructs a new ObjectMeta.
                         * @memberof k8s.io.api.core.v1
                         * @classdesc Represents an ObjectMeta.
                         * @constructor
                         * @param {k8s.io.api.core.v1.ObjectMeta.$Properties=} [properties] Properties to set
                         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                         */
                        const ObjectMeta = function (properties) {
                            this.labels = {};
                            this.annotations = {};
                            if (properties)
                                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                        this[keys[i]] = properties[keys[i]];
                        };

                        /**
                         * ObjectMeta name.
                         * @member {string} name
                         * @memberof k8s.io.api.core.v1.ObjectMeta
                         * @instance
                         */
                        ObjectMeta.prototype.name = "";

                        /**
                         * ObjectMeta namespace.
                         * @member {string} namespace
                         * @memberof k8s.io.api.core.v1.ObjectMeta
                         * @instance
                         */
                        ObjectMeta.prototype.namespace = "";

                        /**
                         * ObjectMeta uid.
                         * @member {string} uid
                         * @memberof k8s.io.api.core.v1.ObjectMeta
                         * @instance
                         */
                        ObjectMeta.prototype.uid = "";

                        /**
                         * ObjectMeta labels.
                         * @member {Object.<string,string>} labels
                         * @memberof k8s.io.api.core.v1.ObjectMeta
                         * @instance
                         */
                        ObjectMeta.prototype.labels = $util.emptyObject;

                        /**
                         * ObjectMeta annotations.
                         * @member {Object.<string,string>} annotations
                         * @memberof k8s.io.api.core.v1.ObjectMeta
                         * @instance
                         */
                        ObjectMeta.prototype.annotations = $util.emptyObject;

                        /**
                         * Creates a new ObjectMeta instance using the specified properties.
                         * @function create
                         * @memberof k8s.io.api.core.v1.ObjectMeta
                         * @static
                         * @param {k8s.io.api.core.v1.ObjectMeta.$Properties=} [properties] Properties to set
                         * @returns {k8s.io.api.core.v1.ObjectMeta} ObjectMeta instance
                         * @type {{
                         *   (properties: k8s.io.api.core.v1.ObjectMeta.$Shape): k8s.io.api.core.v1.ObjectMeta & k8s.io.api.core.v1.ObjectMeta.$Shape;
                         *   (properties?: k8s.io.api.core.v1.ObjectMeta.$Properties): k8s.io.api.core.v1.ObjectMeta;
                         * }}
                         */
                        ObjectMeta.create = function(properties) {
                            return new ObjectMeta(properties);
                        };

                        /**
                         * Encodes the specified ObjectMeta message. Does not implicitly {@link k8s.io.api.core.v1.ObjectMeta.verify|verify} messages.
                         * @function encode
                         * @memberof k8s.io.api.core.v1.ObjectMeta
                         * @static
                         * @param {k8s.io.api.core.v1.ObjectMeta.$Properties} message ObjectMeta message or plain object to encode
                         * @param {$protobuf.Writer} [writer] Writer to encode to
                         * @returns {$protobuf.Writer} Writer
                         */
                        ObjectMeta.encode = function (message, writer, _depth) {
                            if (!writer)
                                writer = $Writer.create();
                            if (_depth === $undefined)
                                _depth = 0;
                            if (_depth > $util.recursionLimit)
                                throw $Error("max depth exceeded");
                            if (message.name != null && $Object.hasOwnProperty.call(message, "name"))
                                writer.uint32(/* id 1, wireType 2 =*/10).string(message.name);
                            if (message.namespace != null && $Object.hasOwnProperty.call(message, "namespace"))
                                writer.uint32(/* id 3, wireType 2 =*/26).string(message.namespace);
                            if (message.uid != null && $Object.hasOwnProperty.call(message, "uid"))
                                writer.uint32(/* id 5, wireType 2 =*/42).string(message.uid);
                            if (message.labels != null && $Object.hasOwnProperty.call(message, "labels"))
                                for (let keys = $Object.keys(message.labels), i = 0; i < keys.length; ++i)
                                    writer.uint32(/* id 11, wireType 2 =*/90).fork().uint32(/* id 1, wireType 2 =*/10).string(keys[i]).uint32(/* id 2, wireType 2 =*/18).string(message.labels[keys[i]]).ldelim();
                            if (message.annotations != null && $Object.hasOwnProperty.call(message, "annotations"))
                                for (let keys = $Object.keys(message.annotations), i = 0; i < keys.length; ++i)
                                    writer.uint32(/* id 12, wireType 2 =*/98).fork().uint32(/* id 1, wireType 2 =*/10).string(keys[i]).uint32(/* id 2, wireType 2 =*/18).string(message.annotations[keys[i]]).ldelim();
                            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                                for (let i = 0; i < message.$unknowns.length; ++i)
                                    writer.raw(message.$unknowns[i]);
                            return writer;
                        };

                        /**
                         * Decodes an ObjectMeta message from the specified reader or buffer.
                         * @function decode
                         * @memberof k8s.io.api.core.v1.ObjectMeta
                         * @static
                         * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
                         * @param {number} [length] Message length if known beforehand
                         * @returns {k8s.io.api.core.v1.ObjectMeta & k8s.io.api.core.v1.ObjectMeta.$Shape} ObjectMeta
                         * @throws {Error} If the payload is not a reader or valid buffer
                         * @throws {$protobuf.util.ProtocolError} If required fields are missing
                         */
                        ObjectMeta.decode = function (reader, length, _end, _depth, _target) {
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
                            message = _target || new $root.k8s.io.api.core.v1.ObjectMeta();
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
                                        message.name = reader.string();
                                        continue;
                                    }
                                case 3: {
                                        if (wireType !== 2)
                                            break;
                                        message.namespace = reader.string();
                                        continue;
                                    }
                                case 5: {
                                        if (wireType !== 2)
                                            break;
                                        message.uid = reader.string();
                                        continue;
                                    }
                                case 11: {
                                        if (wireType !== 2)
                                            break;
                                        if (message.labels === $util.emptyObject)
                                            message.labels = {};
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
                                                key = reader.string();
                                                continue;
                                            case 2:
                                                if (wireType !== 2)
                                                    break;
                                                value = reader.string();
                                                continue;
                                            }
                                            reader.skipType(wireType, _depth, tag2);
                                        }
                                        if (reader.pos !== end2)
                                            throw $RangeError("index out of range");
                                        reader.len = end;
                                        if (key === "__proto__")
                                            $util.makeProp(message.labels, key);
                                        message.labels[key] = value;
                                        continue;
                                    }
                                case 12: {
                                        if (wireType !== 2)
                                            break;
                                        if (message.annotations === $util.emptyObject)
                                            message.annotations = {};
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
                                                key = reader.string();
                                                continue;
                                            case 2:
                                                if (wireType !== 2)
                                                    break;
                                                value = reader.string();
                                                continue;
                                            }
                                            reader.skipType(wireType, _depth, tag2);
                                        }
                                        if (reader.pos !== end2)
                                            throw $RangeError("index out of range");
                                        reader.len = end;
                                        if (key === "__proto__")
                                            $util.makeProp(message.annotations, key);
                                        message.annotations[key] = value;
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
                         * Gets the type url for ObjectMeta
                         * @function getTypeUrl
                         * @memberof k8s.io.api.core.v1.ObjectMeta
                         * @static
                         * @param {string} [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                         * @returns {string} The type url
                         */
                        ObjectMeta.getTypeUrl = function(prefix) {
                            if (prefix === $undefined)
                                prefix = "type.googleapis.com";
                            return prefix + "/k8s.io.api.core.v1.ObjectMeta";
                        };

                        return ObjectMeta;
                    })();

                    v1.PodSpec = (function() {

                        /**
                         * Properties of a PodSpec.
                         * @typedef {Object} k8s.io.api.core.v1.PodSpec.$Properties
                         * @property {string|null} [serviceAccountName] PodSpec serviceAccountName
                         * @property {boolean|null} [hostNetwork] PodSpec hostNetwork
                         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                         */

                        /**
                         * Properties of a PodSpec.
                         * @memberof k8s.io.api.core.v1
                         * @interface IPodSpec
                         * @augments k8s.io.api.core.v1.PodSpec.$Properties
                         * @deprecated Use k8s.io.api.core.v1.PodSpec.$Properties instead.
                         */

                        /**
                         * Shape of a PodSpec.
                         * @typedef {k8s.io.api.core.v1.PodSpec.$Properties} k8s.io.api.core.v1.PodSpec.$Shape
                         */

                        /**
                         * Constructs a new PodSpec.
                         * @memberof k8s.io.api.core.v1
                         * @classdesc Represents a PodSpec.
                         * @constructor
                         * @param {k8s.io.api.core.v1.PodSpec.$Properties=} [properties] Properties to set
                         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                         */
                        const PodSpec = function (properties) {
                            if (properties)
                                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                        this[keys[i]] = properties[keys[i]];
                        };

                        /**
                         * PodSpec serviceAccountName.
                         * @member {string} serviceAccountName
                         * @memberof k8s.io.api.core.v1.PodSpec
                         * @instance
                         */
                        PodSpec.prototype.serviceAccountName = "";

                        /**
                         * PodSpec hostNetwork.
                         * @member {boolean} hostNetwork
                         * @memberof k8s.io.api.core.v1.PodSpec
                         * @instance
                         */
                        PodSpec.prototype.hostNetwork = false;

                        /**
                         * Creates a new PodSpec instance using the specified properties.
                         * @function create
                         * @memberof k8s.io.api.core.v1.PodSpec
                         * @static
                         * @param {k8s.io.api.core.v1.PodSpec.$Properties=} [properties] Properties to set
                         * @returns {k8s.io.api.core.v1.PodSpec} PodSpec instance
                         * @type {{
                         *   (properties: k8s.io.api.core.v1.PodSpec.$Shape): k8s.io.api.core.v1.PodSpec & k8s.io.api.core.v1.PodSpec.$Shape;
                         *   (properties?: k8s.io.api.core.v1.PodSpec.$Properties): k8s.io.api.core.v1.PodSpec;
                         * }}
                         */
                        PodSpec.create = function(properties) {
                            return new PodSpec(properties);
                        };

                        /**
                         * Encodes the specified PodSpec message. Does not implicitly {@link k8s.io.api.core.v1.PodSpec.verify|verify} messages.
                         * @function encode
                         * @memberof k8s.io.api.core.v1.PodSpec
                         * @static
                         * @param {k8s.io.api.core.v1.PodSpec.$Properties} message PodSpec message or plain object to encode
                         * @param {$protobuf.Writer} [writer] Writer to encode to
                         * @returns {$protobuf.Writer} Writer
                         */
                        PodSpec.encode = function (message, writer, _depth) {
                            if (!writer)
                                writer = $Writer.create();
                            if (_depth === $undefined)
                                _depth = 0;
                            if (_depth > $util.recursionLimit)
                                throw $Error("max depth exceeded");
                            if (message.serviceAccountName != null && $Object.hasOwnProperty.call(message, "serviceAccountName"))
                                writer.uint32(/* id 8, wireType 2 =*/66).string(message.serviceAccountName);
                            if (message.hostNetwork != null && $Object.hasOwnProperty.call(message, "hostNetwork"))
                                writer.uint32(/* id 11, wireType 0 =*/88).bool(message.hostNetwork);
                            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                                for (let i = 0; i < message.$unknowns.length; ++i)
                                    writer.raw(message.$unknowns[i]);
                            return writer;
                        };

                        /**
                         * Decodes a PodSpec message from the specified reader or buffer.
                         * @function decode
                         * @memberof k8s.io.api.core.v1.PodSpec
                         * @static
                         * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
                         * @param {number} [length] Message length if known beforehand
                         * @returns {k8s.io.api.core.v1.PodSpec & k8s.io.api.core.v1.PodSpec.$Shape} PodSpec
                         * @throws {Error} If the payload is not a reader or valid buffer
                         * @throws {$protobuf.util.ProtocolError} If required fields are missing
                         */
                        PodSpec.decode = function (reader, length, _end, _depth, _target) {
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
                            message = _target || new $root.k8s.io.api.core.v1.PodSpec();
                            while (reader.pos < end) {
                                let start = reader.pos;
                                let tag = reader.tag();
                                if (tag === _end) {
                                    _end = $undefined;
                                    break;
                                }
                                let wireType = tag & 7;
                                switch (tag >>>= 3) {
                                case 8: {
                                        if (wireType !== 2)
                                            break;
                                        message.serviceAccountName = reader.string();
                                        continue;
                                    }
                                case 11: {
                                        if (wireType !== 0)
                                            break;
                                        message.hostNetwork = reader.bool();
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
                         * Gets the type url for PodSpec
                         * @function getTypeUrl
                         * @memberof k8s.io.api.core.v1.PodSpec
                         * @static
                         * @param {string} [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                         * @returns {string} The type url
                         */
                        PodSpec.getTypeUrl = function(prefix) {
                            if (prefix === $undefined)
                                prefix = "type.googleapis.com";
                            return prefix + "/k8s.io.api.core.v1.PodSpec";
                        };

                        return PodSpec;
                    })();

                    v1.PodStatus = (function() {

                        /**
                         * Properties of a PodStatus.
                         * @typedef {Object} k8s.io.api.core.v1.PodStatus.$Properties
                         * @property {string|null} [phase] PodStatus phase
                         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                         */

                        /**
                         * Properties of a PodStatus.
                         * @memberof k8s.io.api.core.v1
                         * @interface IPodStatus
                         * @augments k8s.io.api.core.v1.PodStatus.$Properties
                         * @deprecated Use k8s.io.api.core.v1.PodStatus.$Properties instead.
                         */

                        /**
                         * Shape of a PodStatus.
                         * @typedef {k8s.io.api.core.v1.PodStatus.$Properties} k8s.io.api.core.v1.PodStatus.$Shape
                         */

                        /**
                         * Constructs a new PodStatus.
                         * @memberof k8s.io.api.core.v1
                         * @classdesc Represents a PodStatus.
                         * @constructor
                         * @param {k8s.io.api.core.v1.PodStatus.$Properties=} [properties] Properties to set
                         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
                         */
                        const PodStatus = function (properties) {
                            if (properties)
                                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                        this[keys[i]] = properties[keys[i]];
                        };

                        /**
                         * PodStatus phase.
                         * @member {string} phase
                         * @memberof k8s.io.api.core.v1.PodStatus
                         * @instance
                         */
                        PodStatus.prototype.phase = "";

                        /**
                         * Creates a new PodStatus instance using the specified properties.
                         * @function create
                         * @memberof k8s.io.api.core.v1.PodStatus
                         * @static
                         * @param {k8s.io.api.core.v1.PodStatus.$Properties=} [properties] Properties to set
                         * @returns {k8s.io.api.core.v1.PodStatus} PodStatus instance
                         * @type {{
                         *   (properties: k8s.io.api.core.v1.PodStatus.$Shape): k8s.io.api.core.v1.PodStatus & k8s.io.api.core.v1.PodStatus.$Shape;
                         *   (properties?: k8s.io.api.core.v1.PodStatus.$Properties): k8s.io.api.core.v1.PodStatus;
                         * }}
                         */
                        PodStatus.create = function(properties) {
                            return new PodStatus(properties);
                        };

                        /**
                         * Encodes the specified PodStatus message. Does not implicitly {@link k8s.io.api.core.v1.PodStatus.verify|verify} messages.
                         * @function encode
                         * @memberof k8s.io.api.core.v1.PodStatus
                         * @static
                         * @param {k8s.io.api.core.v1.PodStatus.$Properties} message PodStatus message or plain object to encode
                         * @param {$protobuf.Writer} [writer] Writer to encode to
                         * @returns {$protobuf.Writer} Writer
                         */
                        PodStatus.encode = function (message, writer, _depth) {
                            if (!writer)
                                writer = $Writer.create();
                            if (_depth === $undefined)
                                _depth = 0;
                            if (_depth > $util.recursionLimit)
                                throw $Error("max depth exceeded");
                            if (message.phase != null && $Object.hasOwnProperty.call(message, "phase"))
                                writer.uint32(/* id 1, wireType 2 =*/10).string(message.phase);
                            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                                for (let i = 0; i < message.$unknowns.length; ++i)
                                    writer.raw(message.$unknowns[i]);
                            return writer;
                        };

                        /**
                         * Decodes a PodStatus message from the specified reader or buffer.
                         * @function decode
                         * @memberof k8s.io.api.core.v1.PodStatus
                         * @static
                         * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
                         * @param {number} [length] Message length if known beforehand
                         * @returns {k8s.io.api.core.v1.PodStatus & k8s.io.api.core.v1.PodStatus.$Shape} PodStatus
                         * @throws {Error} If the payload is not a reader or valid buffer
                         * @throws {$protobuf.util.ProtocolError} If required fields are missing
                         */
                        PodStatus.decode = function (reader, length, _end, _depth, _target) {
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
                            message = _target || new $root.k8s.io.api.core.v1.PodStatus();
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
                                        message.phase = reader.string();
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
                         * Gets the type url for PodStatus
                         * @function getTypeUrl
                         * @memberof k8s.io.api.core.v1.PodStatus
                         * @static
                         * @param {string} [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                         * @returns {string} The type url
                         */
                        PodStatus.getTypeUrl = function(prefix) {
                            if (prefix === $undefined)
                                prefix = "type.googleapis.com";
                            return prefix + "/k8s.io.api.core.v1.PodStatus";
                        };

                        return PodStatus;
                    })();

                    return v1;
                })();

                return core;
            })();

            return api;
        })();

        return io;
    })();

    return k8s;
})();

export {
  $root as default
};
