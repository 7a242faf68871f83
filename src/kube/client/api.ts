/**
 * The API of a Kubernetes cluster as plain JSON objects, independent of the transport. Paths are API paths such as
 * `/api/v1/namespaces/istio-system/configmaps/istio`. Every failure is an `ApiError` that names the request and the
 * server.
 */
import { type ErrorDetails, MeshError } from "../../base/errors.ts";
import type { Value } from "../../base/value.ts";
import type { Fields } from "./select_fields.ts";

export interface ObjectMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly resourceVersion?: string;
  readonly [key: string]: Value;
}

/** An object of the API. Integers beyond 2^53 lose their last digits. */
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

/** The format of a patch (Kubernetes, "API Concepts"). */
export type PatchType = "json" | "merge" | "strategic" | "apply";

export interface WatchEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: KubeObject;
}

/** Query parameters, such as `labelSelector` or `fieldSelector`. */
export type Query = Readonly<Record<string, string>>;

/** A function that returns the part of an object to keep in memory. */
export interface Keep {
  (object: KubeObject): KubeObject;
  /** The only fields of an object to parse; by default, all fields. */
  readonly fields?: Fields;
}

/** A JSON answer of any shape, such as for `/version` or `/apis`. */
export interface RawAnswer {
  readonly value: Value;
  readonly date: string | undefined;
}

export interface KubeApi {
  /** The URL of the server, for messages. For example, `https://10.0.0.1:443`. */
  readonly server: string;
  /** Reads an object. Returns `undefined` if the object does not exist. */
  get(path: string): Promise<KubeObject | undefined>;
  /**
   * Reads a whole collection in pages. `keep` reduces each object before the next page is read. Rejects with an
   * `ApiError` if the server repeats a continue token, or sends more than 2000 pages.
   */
  list(path: string, query?: Query, keep?: Keep): Promise<KubeList>;
  /** Creates an object. Rejects with a `ConflictError` if the object exists already. */
  create(path: string, body: object): Promise<KubeObject>;
  /**
   * Replaces an object. Rejects with a `ConflictError` if its `resourceVersion` differs from the version in the body.
   */
  replace(path: string, body: object): Promise<KubeObject>;
  /** Patches an object. `apply` is server-side apply and requires `fieldManager` in the query. */
  patch(path: string, type: PatchType, body: object, query?: Query): Promise<KubeObject>;
  /**
   * Deletes an object. Returns false if the object does not exist. Rejects with a `ConflictError` if its UID is not
   * `uid`.
   */
  remove(path: string, uid?: string): Promise<boolean>;
  /**
   * Yields the changes of a collection until the signal fires, starting with every existing object as `ADDED`.
   * Reconnects after failures. If the resource version has expired (410), lists again and reports the differences;
   * deleted objects then contain only their metadata.
   */
  watch(path: string, query: Query, signal: AbortSignal, options?: WatchOptions): AsyncIterable<WatchEvent>;
}

export interface WatchOptions {
  /**
   * Called when the watch runs and has delivered all existing objects: after the first connection and each reconnect.
   */
  readonly synced?: () => void;
  /** Called with the reason for an interruption, after which the watch retries. */
  readonly failed?: (error: MeshError) => void;
}

/** Thrown if the server refused the request or could not be reached. */
export class ApiError extends MeshError {
  /** The HTTP status; `undefined` without an answer. */
  readonly status: number | undefined;

  constructor(message: string, details: ApiErrorDetails = {}) {
    super(message, details);
    this.status = details.status;
  }
}

export interface ApiErrorDetails extends Pick<ErrorDetails, "hint" | "cause"> {
  readonly status?: number | undefined;
}

/** Thrown if the object has changed, or exists already (409). */
export class ConflictError extends ApiError {}
