import { MeshError } from "../../base/errors.ts";
import { requestFailure } from "../../platform/request_failure.ts";
import {
  type HttpClient,
  isRuntimeError,
  type RuntimeErrorName,
  type WebSocketConnection,
  type World,
} from "../../platform/mod.ts";
import { ApiError } from "./api.ts";
import type { Connection, Credential } from "./connection.ts";

export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With the query. */
  readonly path: string;
  readonly body?: string;
  readonly contentType?: string;
  readonly accept?: string | undefined;
  readonly signal: AbortSignal;
  /** The signal's timeout, for messages. */
  readonly milliseconds: number;
}

interface Made {
  readonly client: HttpClient;
  readonly credential: Credential;
}

/** Requests to one server, with its current credential. */
export class Transport {
  readonly connection: Connection;
  readonly #world: World;
  #made: Promise<Made> | undefined;
  /** The previous client, whose requests may still be in flight. */
  #former: HttpClient | undefined;
  #isClosed = false;

  constructor(world: World, connection: Connection) {
    this.#world = world;
    this.connection = connection;
  }

  /** Sends a request. After a 401 it renews the credential and retries once. */
  async send(request: ApiRequest): Promise<Response> {
    const response = await this.#sendOnce(request);
    if (response.status !== 401 || !this.connection.credentials.refused()) return response;
    await response.body?.cancel();
    return await this.#sendOnce(request);
  }

  /**
   * Opens a WebSocket with one of the subprotocols. Rejects with the runtime's error, which lacks the server's answer;
   * `send` for the same path has it.
   */
  async webSocket(path: string, protocols: readonly string[], signal: AbortSignal): Promise<WebSocketConnection> {
    if (this.#isClosed) throw new ApiError(`The connection to "${this.connection.server}" is closed`);
    const credential = await this.connection.credentials.current();
    const client = await this.#client(credential);
    return await client.webSocket(path, { protocols, headers: new Headers(credential.headers), signal });
  }

  close(): void {
    this.#isClosed = true;
    this.#former?.close();
    // A request has reported the failure to make a client.
    this.#made?.then(({ client }) => client.close(), () => {});
  }

  async #sendOnce({ method, path, body, contentType, accept, signal, milliseconds }: ApiRequest): Promise<Response> {
    if (this.#isClosed) throw new ApiError(`The connection to "${this.connection.server}" is closed`);
    const credential = await this.connection.credentials.current();
    const headers = new Headers(credential.headers);
    headers.set("accept", accept ?? "application/json");
    if (body !== undefined) headers.set("content-type", contentType ?? "application/json");
    const client = await this.#client(credential);
    try {
      // Following a redirect could send the token elsewhere.
      return await client.request(path, { method, headers, signal, redirect: "manual", body: body ?? null });
    } catch (error) {
      throw unreachable(this.connection, error, milliseconds);
    }
  }

  /** The current client; a new one after the certificates have changed. Concurrent callers share it. */
  async #client(credential: Credential): Promise<HttpClient> {
    const before = this.#made;
    const made = this.#made = this.#renewed(before, credential);
    return (await made).client;
  }

  async #renewed(before: Promise<Made> | undefined, credential: Credential): Promise<Made> {
    const made = await before?.catch(() => undefined);
    if (made !== undefined && isSame(made.credential, credential)) return made;
    const opened = await this.#open(credential);
    this.#former?.close();
    this.#former = made?.client;
    return opened;
  }

  async #open(credential: Credential): Promise<Made> {
    const { server, serverName, insecure, proxy } = this.connection;
    const { authorities, identity } = credential;
    const client = await this.#world.network.client({ server, serverName, insecure, proxy, authorities, identity });
    return { client, credential };
  }
}

function isSame(a: Credential, b: Credential): boolean {
  return a.authorities === b.authorities && a.identity?.certificate === b.identity?.certificate &&
    a.identity?.key === b.identity?.key;
}

/** Hints for errors of the TLS library. */
const HINTS: readonly (readonly [RuntimeErrorName, hint: string])[] = [
  ["expired", "a certificate has expired: renew the server's, or your own"],
  ["unknownIssuer", "is certificate-authority in the kubeconfig this cluster's?"],
  ["otherName", "the certificate is for another name: see tls-server-name in the kubeconfig"],
  ["clientRefused", "the server does not take the client's certificate"],
];

function unreachable({ server, origin }: Connection, error: unknown, milliseconds: number): Error {
  if (error instanceof MeshError) return error;
  const { text } = requestFailure(error, milliseconds);
  const hint = HINTS.find(([name]) => isRuntimeError(text, name))?.[1] ??
    `is the cluster up? The server comes from ${origin}`;
  return new ApiError(`The Kubernetes API server "${server}" cannot be reached: ${text}`, { hint, cause: error });
}
