/**
 * The API of a Kubernetes cluster as plain JSON objects, independent of the transport. Paths are the API's
 * (`/api/v1/namespaces/istio-system/configmaps/istio`). Every failure is an `ApiError` that names the request and the
 * server.
 */
import { MeshError } from "../../base/errors.ts";
import type { Value } from "../../base/value.ts";
import type { Fields } from "./select_fields.ts";

export interface ObjectMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly resourceVersion?: string;
  readonly [key: string]: Value;
}

/** An object of the API; integers beyond 2^53 do not keep their last digits. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMetadata;
  readonly [key: string]: Value;
}

export interface KubeList {
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
}

/** Kubernetes, "API Concepts", patch and apply. */
export type PatchType = "json" | "merge" | "strategic" | "apply";

export interface WatchEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: KubeObject;
}

/** Query parameters, such as `labelSelector` or `fieldSelector`. */
export type Query = Readonly<Record<string, string>>;

/** Returns the part of an object that stays in memory. */
export interface Keep {
  (object: KubeObject): KubeObject;
  /** If set, only these fields of an object are parsed. */
  readonly fields?: Fields;
}

/** Any JSON answer: `/version`, `/apis`. */
export interface RawAnswer {
  readonly value: Value;
  readonly date: string | undefined;
}

export interface KubeApi {
  /** The server, for messages: `https://10.0.0.1:443`. */
  readonly server: string;
  /** `undefined` if the object does not exist. */
  get(path: string): Promise<KubeObject | undefined>;
  /**
   * A whole collection, read in pages. `keep` reduces each object before the next page is read. An `ApiError` if the
   * pages do not end: the server repeats a continue token, or sends more than 2000 pages.
   */
  list(path: string, query?: Query, keep?: Keep): Promise<KubeList>;
  /** A `ConflictError` if it exists already. */
  create(path: string, body: object): Promise<KubeObject>;
  /** A `ConflictError` if the object has another `resourceVersion` than the body. */
  replace(path: string, body: object): Promise<KubeObject>;
  /** Patches; `apply` is server-side apply and requires `fieldManager` in the query. */
  patch(path: string, type: PatchType, body: object, query?: Query): Promise<KubeObject>;
  /** Deletes an object; false if it does not exist. A `ConflictError` if it has another UID than `uid`. */
  remove(path: string, uid?: string): Promise<boolean>;
  /**
   * Changes of a collection until the signal fires; first every existing object as `ADDED`. It reconnects. If the server
   * has dropped the version, it lists again and reports the differences (only the metadata of deleted objects). No
   * failure ends it.
   */
  watch(path: string, query: Query, signal: AbortSignal, options?: WatchOptions): AsyncIterable<WatchEvent>;
}

export interface WatchOptions {
  /** Called when the watch runs and all existing objects have been delivered: at first, and after each reconnect. */
  readonly synced?: () => void;
  /** Called with the reason of an interruption; the watch retries. */
  readonly failed?: (error: MeshError) => void;
}

/** The server refused the request, or could not be reached. */
export class ApiError extends MeshError {
  /** The HTTP status; `undefined` without an answer. */
  readonly status: number | undefined;

  constructor(message: string, details: { hint?: string; cause?: unknown; status?: number } = {}) {
    super(message, details);
    this.status = details.status;
  }
}

/** The object has changed, or exists already (409). */
export class ConflictError extends ApiError {}
