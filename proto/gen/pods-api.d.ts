import * as $protobuf from "protobufjs/minimal.js";
import Long = require("long");

/** Namespace v1alpha1. */
export namespace v1alpha1 {

    /** EventType enum. */
    enum EventType {

        /** EVENT_TYPE_UNSPECIFIED value */
        EVENT_TYPE_UNSPECIFIED = 0,

        /** ADDED value */
        ADDED = 1,

        /** MODIFIED value */
        MODIFIED = 2,

        /** DELETED value */
        DELETED = 3,

        /** INITIAL_SYNC_COMPLETE value */
        INITIAL_SYNC_COMPLETE = 4
    }

    /**
     * Properties of a WatchPodsEvent.
     * @deprecated Use v1alpha1.WatchPodsEvent.$Properties instead.
     */
    interface IWatchPodsEvent extends v1alpha1.WatchPodsEvent.$Properties {
    }

    /** Represents a WatchPodsEvent. */
    class WatchPodsEvent {

        /**
         * Constructs a new WatchPodsEvent.
         * @param [properties] Properties to set
         */
        constructor(properties?: v1alpha1.WatchPodsEvent.$Properties);

        /** Unknown fields preserved while decoding when enabled */
        $unknowns?: Uint8Array[];

        /** WatchPodsEvent type. */
        type: v1alpha1.EventType;

        /** WatchPodsEvent pod. */
        pod: Uint8Array;

        /**
         * Creates a new WatchPodsEvent instance using the specified properties.
         * @param [properties] Properties to set
         * @returns WatchPodsEvent instance
         */
        static create(properties: v1alpha1.WatchPodsEvent.$Shape): v1alpha1.WatchPodsEvent & v1alpha1.WatchPodsEvent.$Shape;
        static create(properties?: v1alpha1.WatchPodsEvent.$Properties): v1alpha1.WatchPodsEvent;

        /**
         * Encodes the specified WatchPodsEvent message. Does not implicitly {@link v1alpha1.WatchPodsEvent.verify|verify} messages.
         * @param message WatchPodsEvent message or plain object to encode
         * @param [writer] Writer to encode to
         * @returns Writer
         */
        static encode(message: v1alpha1.WatchPodsEvent.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

        /**
         * Decodes a WatchPodsEvent message from the specified reader or buffer.
         * @param reader Reader or buffer to decode from
         * @param [length] Message length if known beforehand
         * @returns {v1alpha1.WatchPodsEvent & v1alpha1.WatchPodsEvent.$Shape} WatchPodsEvent
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): v1alpha1.WatchPodsEvent & v1alpha1.WatchPodsEvent.$Shape;

        /**
         * Gets the type url for WatchPodsEvent
         * @param [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
         * @returns The type url
         */
        static getTypeUrl(prefix?: string): string;
    }

    namespace WatchPodsEvent {

        /** Properties of a WatchPodsEvent. */
        interface $Properties {

            /** WatchPodsEvent type */
            type?: (v1alpha1.EventType|null);

            /** WatchPodsEvent pod */
            pod?: (Uint8Array|null);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];
        }

        /** Shape of a WatchPodsEvent. */
        type $Shape = v1alpha1.WatchPodsEvent.$Properties;
    }
}

/** Namespace k8s. */
export namespace k8s {

    /** Namespace io. */
    namespace io {

        /** Namespace api. */
        namespace api {

            /** Namespace core. */
            namespace core {

                /** Namespace v1. */
                namespace v1 {

                    /**
                     * Properties of a Pod.
                     * @deprecated Use k8s.io.api.core.v1.Pod.$Properties instead.
                     */
                    interface IPod extends k8s.io.api.core.v1.Pod.$Properties {
                    }

                    /** Represents a Pod. */
                    class Pod {

                        /**
                         * Constructs a new Pod.
                         * @param [properties] Properties to set
                         */
                        constructor(properties?: k8s.io.api.core.v1.Pod.$Properties);

                        /** Unknown fields preserved while decoding when enabled */
                        $unknowns?: Uint8Array[];

                        /** Pod metadata. */
                        metadata?: (k8s.io.api.core.v1.ObjectMeta.$Properties|null);

                        /** Pod spec. */
                        spec?: (k8s.io.api.core.v1.PodSpec.$Properties|null);

                        /** Pod status. */
                        status?: (k8s.io.api.core.v1.PodStatus.$Properties|null);

                        /**
                         * Creates a new Pod instance using the specified properties.
                         * @param [properties] Properties to set
                         * @returns Pod instance
                         */
                        static create(properties: k8s.io.api.core.v1.Pod.$Shape): k8s.io.api.core.v1.Pod & k8s.io.api.core.v1.Pod.$Shape;
                        static create(properties?: k8s.io.api.core.v1.Pod.$Properties): k8s.io.api.core.v1.Pod;

                        /**
                         * Encodes the specified Pod message. Does not implicitly {@link k8s.io.api.core.v1.Pod.verify|verify} messages.
                         * @param message Pod message or plain object to encode
                         * @param [writer] Writer to encode to
                         * @returns Writer
                         */
                        static encode(message: k8s.io.api.core.v1.Pod.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                        /**
                         * Decodes a Pod message from the specified reader or buffer.
                         * @param reader Reader or buffer to decode from
                         * @param [length] Message length if known beforehand
                         * @returns {k8s.io.api.core.v1.Pod & k8s.io.api.core.v1.Pod.$Shape} Pod
                         * @throws {Error} If the payload is not a reader or valid buffer
                         * @throws {$protobuf.util.ProtocolError} If required fields are missing
                         */
                        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): k8s.io.api.core.v1.Pod & k8s.io.api.core.v1.Pod.$Shape;

                        /**
                         * Gets the type url for Pod
                         * @param [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                         * @returns The type url
                         */
                        static getTypeUrl(prefix?: string): string;
                    }

                    namespace Pod {

                        /** Properties of a Pod. */
                        interface $Properties {

                            /** Pod metadata */
                            metadata?: (k8s.io.api.core.v1.ObjectMeta.$Properties|null);

                            /** Pod spec */
                            spec?: (k8s.io.api.core.v1.PodSpec.$Properties|null);

                            /** Pod status */
                            status?: (k8s.io.api.core.v1.PodStatus.$Properties|null);

                            /** Unknown fields preserved while decoding when enabled */
                            $unknowns?: Uint8Array[];
                        }

                        /** Shape of a Pod. */
                        type $Shape = k8s.io.api.core.v1.Pod.$Properties;
                    }

                    /**
                     * Properties of an ObjectMeta.
                     * @deprecated Use k8s.io.api.core.v1.ObjectMeta.$Properties instead.
                     */
                    interface IObjectMeta extends k8s.io.api.core.v1.ObjectMeta.$Properties {
                    }

                    /** Represents an ObjectMeta. */
                    class ObjectMeta {

                        /**
                         * Constructs a new ObjectMeta.
                         * @param [properties] Properties to set
                         */
                        constructor(properties?: k8s.io.api.core.v1.ObjectMeta.$Properties);

                        /** Unknown fields preserved while decoding when enabled */
                        $unknowns?: Uint8Array[];

                        /** ObjectMeta name. */
                        name: string;

                        /** ObjectMeta namespace. */
                        namespace: string;

                        /** ObjectMeta uid. */
                        uid: string;

                        /** ObjectMeta labels. */
                        labels: { [k: string]: string };

                        /** ObjectMeta annotations. */
                        annotations: { [k: string]: string };

                        /**
                         * Creates a new ObjectMeta instance using the specified properties.
                         * @param [properties] Properties to set
                         * @returns ObjectMeta instance
                         */
                        static create(properties: k8s.io.api.core.v1.ObjectMeta.$Shape): k8s.io.api.core.v1.ObjectMeta & k8s.io.api.core.v1.ObjectMeta.$Shape;
                        static create(properties?: k8s.io.api.core.v1.ObjectMeta.$Properties): k8s.io.api.core.v1.ObjectMeta;

                        /**
                         * Encodes the specified ObjectMeta message. Does not implicitly {@link k8s.io.api.core.v1.ObjectMeta.verify|verify} messages.
                         * @param message ObjectMeta message or plain object to encode
                         * @param [writer] Writer to encode to
                         * @returns Writer
                         */
                        static encode(message: k8s.io.api.core.v1.ObjectMeta.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                        /**
                         * Decodes an ObjectMeta message from the specified reader or buffer.
                         * @param reader Reader or buffer to decode from
                         * @param [length] Message length if known beforehand
                         * @returns {k8s.io.api.core.v1.ObjectMeta & k8s.io.api.core.v1.ObjectMeta.$Shape} ObjectMeta
                         * @throws {Error} If the payload is not a reader or valid buffer
                         * @throws {$protobuf.util.ProtocolError} If required fields are missing
                         */
                        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): k8s.io.api.core.v1.ObjectMeta & k8s.io.api.core.v1.ObjectMeta.$Shape;

                        /**
                         * Gets the type url for ObjectMeta
                         * @param [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                         * @returns The type url
                         */
                        static getTypeUrl(prefix?: string): string;
                    }

                    namespace ObjectMeta {

                        /** Properties of an ObjectMeta. */
                        interface $Properties {

                            /** ObjectMeta name */
                            name?: (string|null);

                            /** ObjectMeta namespace */
                            namespace?: (string|null);

                            /** ObjectMeta uid */
                            uid?: (string|null);

                            /** ObjectMeta labels */
                            labels?: ({ [k: string]: string }|null);

                            /** ObjectMeta annotations */
                            annotations?: ({ [k: string]: string }|null);

                            /** Unknown fields preserved while decoding when enabled */
                            $unknowns?: Uint8Array[];
                        }

                        /** Shape of an ObjectMeta. */
                        type $Shape = k8s.io.api.core.v1.ObjectMeta.$Properties;
                    }

                    /**
                     * Properties of a PodSpec.
                     * @deprecated Use k8s.io.api.core.v1.PodSpec.$Properties instead.
                     */
                    interface IPodSpec extends k8s.io.api.core.v1.PodSpec.$Properties {
                    }

                    /** Represents a PodSpec. */
                    class PodSpec {

                        /**
                         * Constructs a new PodSpec.
                         * @param [properties] Properties to set
                         */
                        constructor(properties?: k8s.io.api.core.v1.PodSpec.$Properties);

                        /** Unknown fields preserved while decoding when enabled */
                        $unknowns?: Uint8Array[];

                        /** PodSpec serviceAccountName. */
                        serviceAccountName: string;

                        /** PodSpec hostNetwork. */
                        hostNetwork: boolean;

                        /**
                         * Creates a new PodSpec instance using the specified properties.
                         * @param [properties] Properties to set
                         * @returns PodSpec instance
                         */
                        static create(properties: k8s.io.api.core.v1.PodSpec.$Shape): k8s.io.api.core.v1.PodSpec & k8s.io.api.core.v1.PodSpec.$Shape;
                        static create(properties?: k8s.io.api.core.v1.PodSpec.$Properties): k8s.io.api.core.v1.PodSpec;

                        /**
                         * Encodes the specified PodSpec message. Does not implicitly {@link k8s.io.api.core.v1.PodSpec.verify|verify} messages.
                         * @param message PodSpec message or plain object to encode
                         * @param [writer] Writer to encode to
                         * @returns Writer
                         */
                        static encode(message: k8s.io.api.core.v1.PodSpec.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                        /**
                         * Decodes a PodSpec message from the specified reader or buffer.
                         * @param reader Reader or buffer to decode from
                         * @param [length] Message length if known beforehand
                         * @returns {k8s.io.api.core.v1.PodSpec & k8s.io.api.core.v1.PodSpec.$Shape} PodSpec
                         * @throws {Error} If the payload is not a reader or valid buffer
                         * @throws {$protobuf.util.ProtocolError} If required fields are missing
                         */
                        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): k8s.io.api.core.v1.PodSpec & k8s.io.api.core.v1.PodSpec.$Shape;

                        /**
                         * Gets the type url for PodSpec
                         * @param [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                         * @returns The type url
                         */
                        static getTypeUrl(prefix?: string): string;
                    }

                    namespace PodSpec {

                        /** Properties of a PodSpec. */
                        interface $Properties {

                            /** PodSpec serviceAccountName */
                            serviceAccountName?: (string|null);

                            /** PodSpec hostNetwork */
                            hostNetwork?: (boolean|null);

                            /** Unknown fields preserved while decoding when enabled */
                            $unknowns?: Uint8Array[];
                        }

                        /** Shape of a PodSpec. */
                        type $Shape = k8s.io.api.core.v1.PodSpec.$Properties;
                    }

                    /**
                     * Properties of a PodStatus.
                     * @deprecated Use k8s.io.api.core.v1.PodStatus.$Properties instead.
                     */
                    interface IPodStatus extends k8s.io.api.core.v1.PodStatus.$Properties {
                    }

                    /** Represents a PodStatus. */
                    class PodStatus {

                        /**
                         * Constructs a new PodStatus.
                         * @param [properties] Properties to set
                         */
                        constructor(properties?: k8s.io.api.core.v1.PodStatus.$Properties);

                        /** Unknown fields preserved while decoding when enabled */
                        $unknowns?: Uint8Array[];

                        /** PodStatus phase. */
                        phase: string;

                        /**
                         * Creates a new PodStatus instance using the specified properties.
                         * @param [properties] Properties to set
                         * @returns PodStatus instance
                         */
                        static create(properties: k8s.io.api.core.v1.PodStatus.$Shape): k8s.io.api.core.v1.PodStatus & k8s.io.api.core.v1.PodStatus.$Shape;
                        static create(properties?: k8s.io.api.core.v1.PodStatus.$Properties): k8s.io.api.core.v1.PodStatus;

                        /**
                         * Encodes the specified PodStatus message. Does not implicitly {@link k8s.io.api.core.v1.PodStatus.verify|verify} messages.
                         * @param message PodStatus message or plain object to encode
                         * @param [writer] Writer to encode to
                         * @returns Writer
                         */
                        static encode(message: k8s.io.api.core.v1.PodStatus.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                        /**
                         * Decodes a PodStatus message from the specified reader or buffer.
                         * @param reader Reader or buffer to decode from
                         * @param [length] Message length if known beforehand
                         * @returns {k8s.io.api.core.v1.PodStatus & k8s.io.api.core.v1.PodStatus.$Shape} PodStatus
                         * @throws {Error} If the payload is not a reader or valid buffer
                         * @throws {$protobuf.util.ProtocolError} If required fields are missing
                         */
                        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): k8s.io.api.core.v1.PodStatus & k8s.io.api.core.v1.PodStatus.$Shape;

                        /**
                         * Gets the type url for PodStatus
                         * @param [prefix] Custom type url prefix, defaults to `"type.googleapis.com"`
                         * @returns The type url
                         */
                        static getTypeUrl(prefix?: string): string;
                    }

                    namespace PodStatus {

                        /** Properties of a PodStatus. */
                        interface $Properties {

                            /** PodStatus phase */
                            phase?: (string|null);

                            /** Unknown fields preserved while decoding when enabled */
                            $unknowns?: Uint8Array[];
                        }

                        /** Shape of a PodStatus. */
                        type $Shape = k8s.io.api.core.v1.PodStatus.$Properties;
                    }
                }
            }
        }
    }
}
