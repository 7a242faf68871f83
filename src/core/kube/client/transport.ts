import { MeshError } from "../../errors.ts";
import { requestFailure } from "../../request_failure.ts";
import type { HttpClient, World } from "../../world/mod.ts";
import { ApiError } from "./api.ts";
import type { ConnectionSettings } from "./connection.ts";
import { Credentials, type TlsMaterial } from "./credentials.ts";

/** A request of the API. */
export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With the query. */
  readonly path: string;
  readonly body?: string;
  readonly contentType?: string;
  readonly signal: AbortSignal;
  /** How long the signal waits, for the message. */
  readonly milliseconds: number;
}

/** A client with what it was made from. */
interface Made {
  readonly client: HttpClient;
  readonly material: TlsMaterial;
}

/** Requests to one server with the credentials of the hour. */
export class Transport {
  readonly settings: ConnectionSettings;
  readonly #world: World;
  readonly #credentials: Credentials;
  #made: Promise<Made> | undefined;
  /** The client before: requests of it may be under way. */
  #former: HttpClient | undefined;
  #isClosed = false;

  constructor(world: World, settings: ConnectionSettings) {
    this.#world = world;
    this.settings = settings;
    this.#credentials = new Credentials(world, settings);
  }

  /** Sends a request; credentials that the server does not take any more are got anew once. */
  async send(request: ApiRequest): Promise<Response> {
    const response = await this.#sendOnce(request);
    if (response.status !== 401 || !this.#credentials.refused()) return response;
    await response.body?.cancel();
    return await this.#sendOnce(request);
  }

  close(): void {
    this.#isClosed = true;
    this.#former?.close();
    // A client that could not be made has told its user so.
    this.#made?.then(({ client }) => client.close(), () => {});
  }

  async #sendOnce({ method, path, body, contentType, signal, milliseconds }: ApiRequest): Promise<Response> {
    const headers = await this.#credentials.headers();
    headers.set("accept", "application/json");
    if (body !== undefined) headers.set("content-type", contentType ?? "application/json");
    const client = await this.#client();
    try {
      // A redirect could carry the token elsewhere.
      const init: RequestInit = {
        method,
        headers,
        signal,
        redirect: "manual",
        ...(body === undefined ? {} : { body }),
      };
      return await client.request(path, init);
    } catch (error) {
      throw unreachable(this.settings, error, milliseconds);
    }
  }

  /** The client in use; another one when the certificates have changed. One caller at a time makes it. */
  async #client(): Promise<HttpClient> {
    if (this.#isClosed) throw new ApiError(`The connection to "${this.settings.server}" is closed`);
    const material = await this.#credentials.tls();
    const before = this.#made;
    const made = this.#made = this.#renewed(before, material);
    return (await made).client;
  }

  async #renewed(before: Promise<Made> | undefined, material: TlsMaterial): Promise<Made> {
    const made = await before?.catch(() => undefined);
    if (made !== undefined && isSame(made.material, material)) return made;
    const opened = await this.#open(material);
    this.#former?.close();
    this.#former = made?.client;
    return opened;
  }

  async #open(material: TlsMaterial): Promise<Made> {
    const { server, serverName, insecure, proxy } = this.settings;
    return { client: await this.#world.network.client({ server, serverName, insecure, proxy, ...material }), material };
  }
}

function isSame(a: TlsMaterial, b: TlsMaterial): boolean {
  return a.authorities === b.authorities && a.identity?.certificate === b.identity?.certificate &&
    a.identity?.key === b.identity?.key;
}

/** What is behind the words of the TLS library, and what to do. */
const CAUSES: readonly (readonly [pattern: RegExp, hint: string])[] = [
  [/expired/i, "a certificate has expired: renew that of the server, or your own"],
  [/UnknownIssuer|unknown (issuer|ca)/i, "is certificate-authority in the kubeconfig that of this cluster?"],
  [/NotValidForName|not valid for name/i, "the certificate is for another name: see tls-server-name in the kubeconfig"],
  [/CertificateRequired|HandshakeFailure|BadCertificate/i, "the server does not take the client's certificate"],
];

function unreachable({ server, origin }: ConnectionSettings, error: unknown, milliseconds: number): Error {
  if (error instanceof MeshError) return error;
  const { text } = requestFailure(error, milliseconds);
  const hint = CAUSES.find(([pattern]) => pattern.test(text))?.[1] ??
    `is the cluster up? The server is that of ${origin}`;
  return new ApiError(`The Kubernetes API server "${server}" cannot be reached: ${text}`, { hint, cause: error });
}
