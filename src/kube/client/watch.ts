/** A watch: lists once, then streams changes and reconnects. Lists again if the resource version has expired (410). */
import { MeshError } from "../../base/errors.ts";
import { isMap, mapAt, textAt, type Value, type ValueMap } from "../../base/value.ts";
import type { Clock } from "../../platform/mod.ts";
import { ApiError, type KubeList, type KubeObject, type Query, type WatchEvent, type WatchOptions } from "./api.ts";
import { refusal } from "./failure.ts";
import { isKubeObject, keyOf } from "./kube_object.ts";

interface Watched {
  list(): Promise<KubeList>;
  /** Opens the stream of changes after the version in the query. */
  open(query: Query, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
  readonly clock: Pick<Clock, "sleep">;
  readonly query: Query;
  readonly what: string;
}

interface Watching extends WatchOptions {
  readonly signal: AbortSignal;
}

const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 30_000;
/** Asks the server to end a stream after `least` seconds, plus a random time up to `more`, as client-go does. */
const SECONDS = { least: 300, more: 300 };
/** Seconds after which a stream that did not end counts as dead. */
const GRACE_SECONDS = 30;

const GONE = 410;

/** Implements `KubeApi.watch`. Keeps the metadata of the objects in memory. */
export async function* watchCollection(watched: Watched, watching: Watching): AsyncIterable<WatchEvent> {
  const state: State = { known: new Map(), version: undefined, pause: FIRST_PAUSE };
  while (!watching.signal.aborted) {
    try {
      if (state.version === undefined) yield* listed(watched, state);
      yield* streamed(watched, watching, state);
      // Pauses even without a failure, because a server may end each stream immediately.
      await pause(watched, watching, FIRST_PAUSE);
    } catch (thrown) {
      if (watching.signal.aborted) return;
      const error = thrown instanceof MeshError ? thrown : new ApiError(`Cannot ${watched.what}`, { cause: thrown });
      const isForgotten = error instanceof ApiError && error.status === GONE;
      if (isForgotten) state.version = undefined;
      else watching.failed?.(error);
      await pause(watched, watching, state.pause);
      state.pause = Math.min(LONGEST_PAUSE, state.pause * 2);
    }
  }
}

/** Pauses with jitter, so that the clients of a server do not reconnect at the same time. */
function pause({ clock }: Watched, { signal }: Watching, milliseconds: number): Promise<void> {
  return clock.sleep(milliseconds * (0.5 + Math.random() / 2), signal);
}

interface State {
  /** Metadata of the existing objects, by namespace and name. */
  readonly known: Map<string, KubeObject["metadata"]>;
  /** The version from which to resume; `undefined` before a list. */
  version: string | undefined;
  pause: number;
}

/** Lists the collection and yields the differences from the known objects. */
async function* listed(watched: Watched, state: State): AsyncIterable<WatchEvent> {
  const { items, resourceVersion } = await watched.list();
  const gone = new Map(state.known);
  for (const object of items) {
    const before = state.known.get(keyOf(object.metadata));
    gone.delete(keyOf(object.metadata));
    if (before !== undefined && before.resourceVersion === object.metadata.resourceVersion) continue;
    remember(state, object);
    yield { type: before === undefined ? "ADDED" : "MODIFIED", object };
  }
  for (const [key, metadata] of gone) {
    state.known.delete(key);
    yield { type: "DELETED", object: { apiVersion: "", kind: "", metadata } };
  }
  state.version = resourceVersion;
}

/** Yields the changes of one stream until it ends. */
async function* streamed(watched: Watched, { signal, synced }: Watching, state: State): AsyncIterable<WatchEvent> {
  const seconds = SECONDS.least + Math.floor(Math.random() * SECONDS.more);
  const end = new AbortController();
  const stop = () => end.abort();
  const timer = setTimeout(stop, (seconds + GRACE_SECONDS) * 1000);
  signal.addEventListener("abort", stop);
  try {
    const versioned = {
      ...watched.query,
      watch: "true",
      allowWatchBookmarks: "true",
      resourceVersion: state.version ?? "",
      timeoutSeconds: String(seconds),
    };
    const stream = await watched.open(versioned, end.signal);
    state.pause = FIRST_PAUSE;
    synced?.();
    for await (const line of lines(stream, watched.what)) yield* changes(line, watched, state);
  } finally {
    end.abort();
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}

/** Yields the change in a line. A bookmark only updates the version. */
function* changes(line: string, { what }: Watched, state: State): Iterable<WatchEvent> {
  const event = parse(line, what);
  const { type, object = null } = event;
  if (type === "ERROR") throw streamError(object, what);
  if (type === "BOOKMARK") return void (state.version = versionOf(object) ?? state.version);
  if (!isKubeObject(object) || (type !== "ADDED" && type !== "MODIFIED" && type !== "DELETED")) {
    throw new ApiError(`An event in the answer to ${what} is not a Kubernetes watch event`);
  }
  state.version = versionOf(object) ?? state.version;
  if (type === "DELETED") state.known.delete(keyOf(object.metadata));
  else remember(state, object);
  yield { type, object };
}

function remember({ known }: State, { metadata }: KubeObject): void {
  const { name, namespace, resourceVersion } = metadata;
  known.set(keyOf(metadata), {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  });
}

function versionOf(object: Value): string | undefined {
  return isMap(object) ? textAt(mapAt(object, "metadata"), "resourceVersion") || undefined : undefined;
}

function streamError(status: Value, what: string): ApiError {
  const code = isMap(status) ? Number(status["code"] ?? 0) : 0;
  return refusal(code, JSON.stringify(status), { what, server: "", origin: "" });
}

function parse(line: string, what: string): ValueMap {
  try {
    const value: Value = JSON.parse(line);
    if (isMap(value)) return value;
  } catch (error) {
    throw new ApiError(`An event in the answer to ${what} is not valid JSON`, { cause: error });
  }
  throw new ApiError(`An event in the answer to ${what} is not a Kubernetes watch event`);
}

/**
 * Maximum length of a line. etcd stores objects of at most 1.5 MiB, and escapes and managed fields add to this size.
 */
const LONGEST_LINE = 16 * 1024 * 1024;

/**
 * Yields the lines of a stream, which is cancelled when the caller stops reading. A failure of the stream ends the
 * lines, and the watch then resumes. Throws an ApiError for a line that is too long.
 */
async function* lines(stream: ReadableStream<Uint8Array>, what: string): AsyncIterable<string> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  // The pieces of a line. Each piece is scanned once, even if a server sends single bytes.
  let pieces: string[] = [];
  let length = 0;
  try {
    for (;;) {
      // A broken connection or the signal also ends the lines.
      const { value: chunk } = await reader.read().catch(() => ({ value: undefined }));
      if (chunk === undefined) return;
      const [first = "", ...more] = decoder.decode(chunk, { stream: true }).split("\n");
      pieces.push(first);
      length += first.length;
      if (length > LONGEST_LINE) {
        throw new ApiError(`An event in the answer to ${what} is longer than ${LONGEST_LINE} characters`);
      }
      const last = more.pop();
      if (last === undefined) continue;
      yield* [pieces.join(""), ...more].filter((line) => line.trim() !== "");
      pieces = [last];
      length = last.length;
    }
  } finally {
    // Ignores the error, because cancelling a failed stream also fails.
    await reader.cancel().catch(() => {});
  }
}
