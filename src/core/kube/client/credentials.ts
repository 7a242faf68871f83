import type { World } from "../../world/mod.ts";
import type { ConnectionSettings, TextOrFile } from "./connection.ts";
import { type ExecCredential, execCredential } from "./exec_credential.ts";

/** What a TLS connection is made with; all PEM. */
export interface TlsMaterial {
  readonly authorities: string | undefined;
  readonly identity: { readonly certificate: string; readonly key: string } | undefined;
}

/** Kubernetes replaces a pod's token long before it expires; client-go reads it as often. */
const READ_AGAIN = 60_000;
/** Before its end, so that it does not end on the way. */
const MARGIN = 10_000;

/** What the client shows to the server: files are read again each minute, plugins run again when theirs has expired. */
export class Credentials {
  readonly #world: World;
  readonly #settings: ConnectionSettings;
  readonly #read = new Map<string, { readonly text: string; readonly at: number }>();
  #exec: Promise<ExecCredential> | undefined;

  constructor(world: World, settings: ConnectionSettings) {
    this.#world = world;
    this.#settings = settings;
  }

  /** The headers of a request. */
  async headers(): Promise<Headers> {
    const { token, basic } = this.#settings;
    const bearer = await this.#text(token) ?? (await this.#plugin())?.token;
    const headers = impersonation(this.#settings);
    if (bearer !== undefined) headers.set("authorization", `Bearer ${bearer.trim()}`);
    else if (basic !== undefined) headers.set("authorization", `Basic ${btoa(`${basic.username}:${basic.password}`)}`);
    return headers;
  }

  /** What connections are to be made with from now on. */
  async tls(): Promise<TlsMaterial> {
    const { authorities, certificate, key } = this.#settings;
    const [own, ownKey] = [await this.#text(certificate), await this.#text(key)];
    const given = own === undefined || ownKey === undefined ? undefined : { certificate: own, key: ownKey };
    return { authorities: await this.#text(authorities), identity: given ?? (await this.#plugin())?.identity };
  }

  /** The server refused them: whether there is hope for others, which are then got anew. */
  refused(): boolean {
    const { token, exec } = this.#settings;
    this.#exec = undefined;
    this.#read.clear();
    return exec !== undefined || (token !== undefined && "file" in token);
  }

  async #text(source: TextOrFile | undefined): Promise<string | undefined> {
    if (source === undefined || "text" in source) return source?.text;
    const now = this.#world.clock.monotonic();
    const known = this.#read.get(source.file);
    if (known !== undefined && now - known.at < READ_AGAIN) return known.text;
    const text = await this.#world.files.readText(source.file);
    this.#read.set(source.file, { text, at: now });
    return text;
  }

  /** One run serves all requests that wait for it. */
  async #plugin(): Promise<ExecCredential | undefined> {
    const { exec } = this.#settings;
    if (exec === undefined) return undefined;
    const running = this.#exec ??= execCredential(this.#world, exec, this.#settings);
    try {
      const credential = await running;
      if ((credential.expires ?? Infinity) - MARGIN > this.#world.clock.now().getTime()) return credential;
    } catch (error) {
      if (this.#exec === running) this.#exec = undefined;
      throw error;
    }
    if (this.#exec === running) this.#exec = execCredential(this.#world, exec, this.#settings);
    return await this.#exec;
  }
}

/** Kubernetes, "Authenticating", user impersonation: a header for each group. */
function impersonation({ impersonation }: ConnectionSettings): Headers {
  const headers = new Headers();
  if (impersonation === undefined) return headers;
  const { user, uid, groups, extra } = impersonation;
  headers.set("impersonate-user", user);
  if (uid !== undefined) headers.set("impersonate-uid", uid);
  for (const group of groups) headers.append("impersonate-group", group);
  for (const [key, values] of Object.entries(extra)) {
    for (const value of values) headers.append(`impersonate-extra-${encodeURIComponent(key)}`, value);
  }
  return headers;
}
