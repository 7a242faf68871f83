/** Types and guards for the Kubernetes objects that this program reads, from client-node's models. */
import type {
  V1APIService,
  V1ConfigMap,
  V1Endpoints,
  V1EndpointSlice,
  V1LabelSelector,
  V1LimitRange,
  V1MutatingWebhookConfiguration,
  V1Namespace,
  V1Node,
  V1ObjectMeta,
  V1Pod,
  V1ResourceQuota,
  V1Secret,
  V1Service,
} from "@kubernetes/client-node/models";
import type { KubeObject } from "./api.ts";

/**
 * Converts a model to the JSON of the API: times are strings, and field names have no leading underscore (`_default`).
 * Every field is optional, because checks read objects of any version and keep only parts of them.
 */
export type Plain<T> = T extends Date ? string
  : T extends (infer Item)[] ? Plain<Item>[]
  : T extends object ? string extends keyof T ? { [Key in keyof T]: Plain<T[Key]> } : {
      [Key in keyof T as Key extends `_${infer Name}` ? Name : Key]?: Plain<T[Key]>;
    }
  : T;

type Stored<T> = Omit<Plain<T>, "apiVersion" | "kind" | "metadata"> & {
  apiVersion: string;
  kind: string;
  metadata: Omit<Plain<V1ObjectMeta>, "name"> & { name: string };
};

export type ApiService = Stored<V1APIService>;
export type ConfigMap = Stored<V1ConfigMap>;
export type Endpoints = Stored<V1Endpoints>;
export type EndpointSlice = Stored<V1EndpointSlice>;
export type LabelSelector = Plain<V1LabelSelector>;
export type LimitRange = Stored<V1LimitRange>;
export type MutatingWebhookConfiguration = Stored<V1MutatingWebhookConfiguration>;
export type Namespace = Stored<V1Namespace>;
export type Node = Stored<V1Node>;
export type Pod = Stored<V1Pod>;
export type ResourceQuota = Stored<V1ResourceQuota>;
export type Secret = Stored<V1Secret>;
export type Service = Stored<V1Service>;

/**
 * A check for the kind of an object. The API server has validated the fields of built-in types, so the kind is enough.
 */
export type Guard<T extends KubeObject> = (object: KubeObject) => object is T;

/** Returns the object if it has the kind. */
export function ofKind<T extends KubeObject>(object: KubeObject | undefined, isKind: Guard<T>): T | undefined {
  return object !== undefined && isKind(object) ? object : undefined;
}

export const isApiService = (object: KubeObject): object is ApiService => object.kind === "APIService";
export const isConfigMap = (object: KubeObject): object is ConfigMap => object.kind === "ConfigMap";
export const isEndpoints = (object: KubeObject): object is Endpoints => object.kind === "Endpoints";
export const isEndpointSlice = (object: KubeObject): object is EndpointSlice => object.kind === "EndpointSlice";
export const isLimitRange = (object: KubeObject): object is LimitRange => object.kind === "LimitRange";
export const isMutatingWebhookConfiguration = (object: KubeObject): object is MutatingWebhookConfiguration =>
  object.kind === "MutatingWebhookConfiguration";
export const isNamespace = (object: KubeObject): object is Namespace => object.kind === "Namespace";
export const isNode = (object: KubeObject): object is Node => object.kind === "Node";
export const isPod = (object: KubeObject): object is Pod => object.kind === "Pod";
export const isResourceQuota = (object: KubeObject): object is ResourceQuota => object.kind === "ResourceQuota";
export const isSecret = (object: KubeObject): object is Secret => object.kind === "Secret";
export const isService = (object: KubeObject): object is Service => object.kind === "Service";
