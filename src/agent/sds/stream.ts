/** Serves one SDS stream. */
import { MeshError } from "../../base/errors.ts";
import { type Logger, logText } from "../../platform/log.ts";
import { type DiscoveryRequest, discoveryResponse, readDiscoveryRequest, SECRET_TYPE } from "./messages.ts";
import { type OpenSecret, sameSecret, type Secret, type SecretSource } from "./secret.ts";

/** Maximum number of secrets per stream, because each name may need a file watch. */
const MAX_NAMES = 1000;

export interface StreamOptions {
  readonly open: OpenSecret;
  readonly log: Logger;
  readonly nextVersion: () => string;
}

/**
 * Serves secrets as state of the world: each response contains all requested secrets that are available. A change of a
 * secret triggers a response.
 */
export class SecretStream {
  readonly #sources = new Map<string, SecretSource>();
  #sent = new Map<string, Secret>();
  #nonce = "";
  #version = "";
  #refusal: string | undefined;
  #wake: () => void = () => {};
  #end: { readonly error: unknown } | "ended" | undefined;

  constructor(private readonly options: StreamOptions) {}

  get refusal(): string | undefined {
    return this.#refusal;
  }

  /**
   * Handles a request. Throws a MeshError for an invalid request; the caller should then fail the stream with the same
   * error.
   */
  take(message: Uint8Array): void {
    const request = readDiscoveryRequest(message);
    if (request.typeUrl !== "" && request.typeUrl !== SECRET_TYPE) {
      throw new MeshError(`Envoy requests resources of the type ${quoted(request.typeUrl)}, which are not secrets`);
    }
    if (request.responseNonce === "") this.#sent.clear();
    else if (request.responseNonce !== this.#nonce) return; // Answers an outdated response.
    else this.#acknowledged(request);
    this.#ask(new Set(request.resourceNames));
    this.#wake();
  }

  /**
   * Waits for the next response; resolves with `undefined` at the end of the stream. Rejects with the stream's error.
   */
  async next(): Promise<Uint8Array | undefined> {
    for (;;) {
      if (this.#end === "ended") return undefined;
      if (this.#end !== undefined) throw this.#end.error;
      const answer = this.#answer();
      if (answer !== undefined) return answer;
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
  }

  end(failure?: { readonly error: unknown }): void {
    this.#end ??= failure ?? "ended";
    for (const source of this.#sources.values()) source.close();
    this.#sources.clear();
    this.#refusal = undefined;
    this.#wake();
  }

  #acknowledged({ refusal, resourceNames }: DiscoveryRequest): void {
    const { log } = this.options;
    const names = resourceNames.map(quoted).join(", ");
    if (refusal === undefined) {
      this.#refusal = undefined;
      log.debug(logText(`Envoy accepted ${names} in version ${this.#version}`));
    } else {
      this.#refusal = `Envoy rejects the secret ${names}: ${plain(refusal)}`;
      log.error(logText(`${this.#refusal} (version ${this.#version})`));
    }
  }

  #ask(names: ReadonlySet<string>): void {
    if (this.#end !== undefined) return;
    if (names.size > MAX_NAMES) throw new MeshError(`Envoy requests ${names.size} secrets: the limit is ${MAX_NAMES}`);
    for (const [name, source] of this.#sources) {
      if (names.has(name)) continue;
      source.close();
      this.#sources.delete(name);
      this.#sent.delete(name);
    }
    for (const name of names) if (!this.#sources.has(name)) this.#open(name);
  }

  #open(name: string): void {
    const { open, log } = this.options;
    const source = open(name, () => this.#wake()) ?? UNKNOWN;
    this.#sources.set(name, source);
    if (source === UNKNOWN) {
      log.warning(logText(`Envoy requests the secret ${quoted(name)}, which is unknown`));
    } else if (source.current() === undefined) {
      log.debug(
        logText(
          `Envoy requests the secret ${quoted(name)} and waits: ${source.problem() ?? "the secret does not exist yet"}`,
        ),
      );
    }
  }

  #answer(): Uint8Array | undefined {
    const secrets = new Map<string, Secret>();
    for (const [name, source] of this.#sources) {
      const secret = source.current();
      if (secret !== undefined) secrets.set(name, secret);
    }
    const news = [...secrets].filter(([name, secret]) => !sameSecret(this.#sent.get(name), secret));
    if (news.length === 0) return undefined;
    this.#sent = secrets;
    this.#nonce = crypto.randomUUID();
    this.#version = this.options.nextVersion();
    const names = news.map(([name]) => quoted(name)).join(", ");
    this.options.log.info(logText(`Sending Envoy ${names} in version ${this.#version}`));
    return discoveryResponse({ version: this.#version, nonce: this.#nonce, secrets });
  }
}

const UNKNOWN: SecretSource = { current: () => undefined, problem: () => undefined, close: () => {} };

const MAX_REASON = 500;

/** Returns Envoy's text in one line of limited length. */
function plain(text: string): string {
  const line = text.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
  return line === "" ? "no reason given" : line.slice(0, MAX_REASON);
}

const MAX_LENGTH = 200;

/** Returns a text for the log, in one line of limited length. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}...` : text);
}
