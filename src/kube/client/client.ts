import { isList, isMap, mapAt, textAt, type Value, type ValueMap } from "../../base/value.ts";
import type { Clock } from "../../platform/mod.ts";
import {
  ApiError,
  type Keep,
  type KubeApi,
  type KubeList,
  type KubeObject,
  type PatchType,
  type Query,
  type RawAnswer,
  type WatchEvent,
  type WatchOptions,
} from "./api.ts";
import { requestFailure } from "../../platform/request_failure.ts";
import { exec, type ExecResult, hold } from "./exec.ts";
import { getFromPort, type PodPortRequest } from "./pod_port.ts";
import type { ExecRequest, HeldRequest } from "./exec_failure.ts";
import { type Asked, refusal } from "./failure.ts";
import { kubeObject, listItem } from "./kube_object.ts";
import { readAll, readBytes } from "./read_all.ts";
import { selectFields, type Selection, selectionOf } from "./select_fields.ts";
import type { ApiRequest, Transport } from "./transport.ts";
import { watchCollection } from "./watch.ts";

const TIMEOUT = 30_000;
/** The longest possible timer in milliseconds, which stands for no limit. */
const ENDLESS = 2 ** 31 - 1;
/** Number of objects per page, as in kubectl. */
const PAGE = "500";
/** Maximum number of pages of a list: a million objects. */
const MAX_PAGES = 2000;
/** Maximum size of an answer in bytes, enough for a page of 500 large objects. */
const MAX_BYTES = 256 * 1024 * 1024;
const GONE = 410;
const MAX_TRIES = 4;
const MAX_WAIT_SECONDS = 10;

const PATCH_TYPES: Readonly<Record<PatchType, string>> = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
};

interface Reading {
  /** The fields to parse; by default, all fields. */
  readonly selection?: Selection;
  /** The buffer of the previous page, for reuse. */
  buffer?: ArrayBuffer;
}

interface Received {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly headers: Headers;
}

type Sent = Pick<ApiRequest, "method" | "path" | "body" | "contentType" | "accept">;

/** A client for the API of a cluster, over a transport. */
export class KubeClient implements KubeApi {
  readonly server: string;
  readonly #transport: Transport;
  readonly #clock: Pick<Clock, "sleep">;

  readonly #timeout: number;
  readonly #held = new AbortController();

  /** `timeout`: milliseconds; 0 means no limit. Dry runs get at least 30 seconds, because they wait for webhooks. */
  constructor(transport: Transport, clock: Pick<Clock, "sleep">, timeout = TIMEOUT) {
    this.#transport = transport;
    this.#timeout = timeout === 0 ? ENDLESS : timeout;
    this.#clock = clock;
    this.server = transport.connection.server;
  }

  async get(path: string): Promise<KubeObject | undefined> {
    const value = await this.#optional({ method: "GET", path });
    return value === undefined ? undefined : kubeObject(value, `get ${path}`);
  }

  async list(path: string, query: Query = {}, keep: Keep = (object) => object): Promise<KubeList> {
    try {
      return await this.#pages(path, query, keep);
    } catch (error) {
      // The continue token has expired (410), so the list starts again.
      if (error instanceof ApiError && error.status === GONE) return await this.#pages(path, query, keep);
      throw error;
    }
  }

  async #pages(path: string, query: Query, keep: Keep): Promise<KubeList> {
    const items: KubeObject[] = [];
    const { fields } = keep;
    const reading: Reading = fields === undefined
      ? {}
      : { selection: selectionOf({ apiVersion: true, kind: true, metadata: true, items: fields }) };
    const add = async (more: string) => {
      const versioned = { limit: PAGE, ...query, ...(more === "" ? {} : { continue: more }) };
      const page = await this.#page(withQuery(path, versioned), reading);
      const entries = page["items"] ?? [];
      if (isList(entries)) { for (const item of entries) items.push(keep(listItem(item, page, `list ${path}`))); }
      return { more: metadataText(page, "continue"), resourceVersion: metadataText(page, "resourceVersion") };
    };
    const tokens = new Set<string>();
    // Keeps only the continue token, so that memory never contains two pages.
    let page = await add("");
    while (page.more !== "") {
      if (tokens.has(page.more)) throw endless(path, "the server repeats the continue token of an earlier page");
      if (tokens.size === MAX_PAGES - 1) throw endless(path, `the list has more than ${MAX_PAGES} pages`);
      tokens.add(page.more);
      page = await add(page.more);
    }
    return { items, resourceVersion: page.resourceVersion };
  }

  create(path: string, body: object): Promise<KubeObject> {
    return this.#object({ method: "POST", path, body: JSON.stringify(body) });
  }

  replace(path: string, body: object): Promise<KubeObject> {
    return this.#object({ method: "PUT", path, body: JSON.stringify(body) });
  }

  patch(path: string, type: PatchType, body: object, query: Query = {}): Promise<KubeObject> {
    const contentType = PATCH_TYPES[type];
    return this.#object({ method: "PATCH", path: withQuery(path, query), body: JSON.stringify(body), contentType });
  }

  async remove(path: string, uid?: string): Promise<boolean> {
    const body = uid === undefined ? {} : { body: JSON.stringify({ preconditions: { uid } }) };
    return await this.#optional({ method: "DELETE", path, ...body }) !== undefined;
  }

  watch(path: string, query: Query, signal: AbortSignal, options: WatchOptions = {}): AsyncIterable<WatchEvent> {
    const clock = this.#clock;
    const open = (versioned: Query, ended: AbortSignal) => this.#open(withQuery(path, versioned), ended);
    return watchCollection({ list: () => this.list(path, query), open, clock, query, what: `watch ${path}` }, {
      signal,
      ...options,
    });
  }

  close(): void {
    this.#held.abort();
    this.#transport.close();
  }

  async #page(path: string, reading: Reading): Promise<ValueMap> {
    const { value } = await this.#answer({ method: "GET", path }, reading);
    if (isMap(value)) return value;
    const what = `list ${path.replace(/\?.*/, "")}`;
    throw new ApiError(`The answer to ${what} is not a Kubernetes list`, { hint: "is the server an API server?" });
  }

  async #object(sent: Sent): Promise<KubeObject> {
    return kubeObject(await this.#value(sent), whatOf(sent));
  }

  async #optional(sent: Sent): Promise<Value | undefined> {
    try {
      return await this.#value(sent);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  }

  exec(request: ExecRequest): Promise<ExecResult> {
    return exec(this.#transport, request);
  }

  hold(request: HeldRequest): Promise<boolean> {
    return hold(this.#transport, request, this.#held.signal);
  }

  getFromPort(request: PodPortRequest): Promise<Uint8Array> {
    return getFromPort(this.#transport, request);
  }

  raw(path: string, accept?: string): Promise<RawAnswer> {
    return this.#answer({ method: "GET", path, accept });
  }

  async #value(sent: Sent): Promise<Value> {
    return (await this.#answer(sent)).value;
  }

  async text(path: string): Promise<string> {
    const { bytes } = await this.#received({ method: "GET", path });
    return new TextDecoder().decode(bytes);
  }

  async #answer(sent: Sent, reading: Reading = {}): Promise<RawAnswer> {
    const { bytes, headers } = await this.#received(sent, reading.buffer);
    reading.buffer = bytes.buffer;
    return { value: parse(bytes, reading.selection, whatOf(sent)), date: headers.get("date") ?? undefined };
  }

  async #received(sent: Sent, buffer?: ArrayBuffer): Promise<Received> {
    const isDryRun = sent.method === "POST" && sent.path.includes("dryRun=All");
    const milliseconds = isDryRun ? Math.max(this.#timeout, TIMEOUT) : this.#timeout;
    const signal = AbortSignal.timeout(milliseconds);
    const response = await this.#retried({ ...sent, signal, milliseconds });
    const bytes = await this.#bytes(response, sent, buffer);
    if (!response.ok) throw refusal(response.status, new TextDecoder().decode(bytes), this.#asked(sent));
    return { bytes, headers: response.headers };
  }

  async #bytes(response: Response, sent: Sent, buffer: ArrayBuffer | undefined): Promise<Uint8Array<ArrayBuffer>> {
    try {
      return await readBytes(response, MAX_BYTES, buffer);
    } catch (error) {
      const { kind, text } = requestFailure(error, this.#timeout);
      const why = kind === "silent" ? `is incomplete: ${text}` : "was interrupted";
      throw new ApiError(`The answer from "${this.server}" to ${whatOf(sent)} ${why}`, { cause: error });
    }
  }

  /** Sends a request, and retries after the time in Retry-After if an overloaded server returns 429. */
  async #retried(request: ApiRequest): Promise<Response> {
    for (let attempt = 1;; attempt++) {
      const response = await this.#transport.send(request);
      const seconds = Number(response.headers.get("retry-after") ?? NaN);
      if (response.status !== 429 || Number.isNaN(seconds) || attempt === MAX_TRIES) return response;
      await response.body?.cancel();
      await this.#clock.sleep(1000 * Math.min(MAX_WAIT_SECONDS, Math.max(1, seconds)), request.signal);
    }
  }

  /**
   * Opens an endless stream. The response headers must arrive within the timeout: an API server sends them before the
   * first change.
   */
  async #open(path: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const late = new AbortController();
    const timer = setTimeout(
      () => late.abort(new DOMException("The response headers did not arrive in time", "TimeoutError")),
      this.#timeout,
    );
    const both = AbortSignal.any([signal, late.signal]);
    try {
      const request = { method: "GET", path, signal: both, milliseconds: this.#timeout } as const;
      const response = await this.#transport.send(request);
      if (response.ok && response.body !== null) return response.body;
      const text = await readAll(response, MAX_BYTES);
      throw refusal(response.status, text, this.#asked({ method: "GET", path }));
    } finally {
      clearTimeout(timer);
    }
  }

  #asked(sent: Sent): Asked {
    return { what: whatOf(sent), server: this.server, origin: this.#transport.connection.origin };
  }
}

function endless(path: string, why: string): ApiError {
  return new ApiError(`The list of ${path} does not end: ${why}`, { hint: "is the server an API server?" });
}

function whatOf({ method, path }: Sent): string {
  return `${method} ${path.replace(/\?.*/, "")}`;
}

function withQuery(path: string, query: Query): string {
  const text = new URLSearchParams(query).toString();
  return text === "" ? path : `${path}?${text}`;
}

function metadataText(list: ValueMap, key: string): string {
  return textAt(mapAt(list, "metadata"), key);
}

function parse(bytes: Uint8Array, selection: Selection | undefined, what: string): Value {
  try {
    const length = selection === undefined ? bytes.length : selectFields(bytes, selection);
    return JSON.parse(new TextDecoder().decode(bytes.subarray(0, length)));
  } catch (error) {
    throw new ApiError(`The answer to ${what} is not valid JSON`, {
      hint: "is the server an API server?",
      cause: error,
    });
  }
}
