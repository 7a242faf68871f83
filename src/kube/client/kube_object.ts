import { isMap, type Value, type ValueMap } from "../../base/value.ts";
import { ApiError, type KubeObject, type ObjectMetadata } from "./api.ts";

/** Whether an answer is a Kubernetes object. */
export function isKubeObject(value: Value | undefined): value is ValueMap & KubeObject {
  return isMap(value) && typeof value["apiVersion"] === "string" && typeof value["kind"] === "string" &&
    isMetadata(value["metadata"]);
}

function isMetadata(value: Value | undefined): value is ValueMap & ObjectMetadata {
  return isMap(value) && typeof value["name"] === "string";
}

/** Returns the key of an object in its collection. */
export function keyOf({ namespace = "", name }: ObjectMetadata): string {
  return `${namespace}/${name}`;
}

/** The only kind of object without a name. */
const NAMELESS = "SelfSubjectAccessReview";

/** Returns the answer as an object. Throws an ApiError if it is not an object. */
export function kubeObject(value: Value, asked: string): KubeObject {
  const named = isMap(value) && value["kind"] === NAMELESS ? { ...value, metadata: { name: "" } } : value;
  if (isKubeObject(named)) return named;
  throw new ApiError(`The answer to ${asked} is not a Kubernetes object`, { hint: "is the server an API server?" });
}

/** Returns an item of a list as an object. Items of built-in types get version and kind from the list. */
export function listItem(item: Value, list: ValueMap, asked: string): KubeObject {
  if (!isMap(item)) return kubeObject(item, asked);
  const [apiVersion, kind] = [item["apiVersion"] ?? list["apiVersion"], item["kind"] ?? kindOfItems(list["kind"])];
  return kubeObject({ apiVersion: apiVersion ?? null, kind: kind ?? null, ...item }, asked);
}

function kindOfItems(kind: Value | undefined): Value {
  return typeof kind === "string" ? kind.replace(/List$/, "") : null;
}
