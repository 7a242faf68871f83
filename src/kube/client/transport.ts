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
  readonly path: string;
  readonly body?: string;
  readonly contentType?: string;
  readonly accept?: string | undefined;
  readonly signal: AbortSignal;
  /** The timeout of the signal in milliseconds, for messages. */
  readonly milliseconds: number;
}

interface Made {
  readonly client: HttpClient;
  readonly credential: Credential;
}

/** Sends requests to one server with the current credential. */
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

  /** Sends a request. After status 401, renews the credential and retries once. */
  async send(request: ApiRequest): Promise<Response> {
    const response = await this.#sendOnce(request);
    if (response.status !== 401 || !this.connection.credentials.refused()) return response;
    await response.body?.cancel();
    return await this.#sendOnce(request);
  }

  /**
   * Opens a WebSocket with one of the subprotocols. Rejects with the runtime's error, which lacks the server's answer.
   * For the answer, call `send` with the same path.
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
    // Ignores a failure to create a client, which a request has reported.
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
      // Does not follow redirects, which could send the token to another server.
      return await client.request(path, { method, headers, signal, redirect: "manual", body: body ?? null });
    } catch (error) {
      throw unreachable(this.connection, error, milliseconds);
    }
  }

  /**
   * Returns the current client, or a new client if the certificates have changed. Concurrent callers share the client.
   */
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
  ["expired", "a certificate has expired: renew the server's or the client's certificate"],
  ["unknownIssuer", "check that certificate-authority in the kubeconfig is the authority of this cluster"],
  ["otherName", "the server's certificate is for another name: check tls-server-name in the kubeconfig"],
  ["clientRefused", "the server rejects the client's certificate"],
];

function unreachable({ server, origin }: Connection, error: unknown, milliseconds: number): Error {
  if (error instanceof MeshError) return error;
  const { text } = requestFailure(error, milliseconds);
  const hint = HINTS.find(([name]) => isRuntimeError(text, name))?.[1] ??
    `is the cluster up? The server comes from ${origin}`;
  return new ApiError(`The Kubernetes API server "${server}" cannot be reached: ${text}`, { hint, cause: error });
}
