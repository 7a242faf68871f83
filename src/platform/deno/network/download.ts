/**
 * Downloads of files that a user names by https URLs. The server is untrusted: size and time are limited, and redirects
 * stay https.
 */
import { MeshError, messageOf } from "../../../base/errors.ts";
import { shownUrl } from "../../../base/shown_url.ts";
import { isRuntimeError, reasonOf } from "../../runtime_errors.ts";
import { realFetch } from "./fetch.ts";
import { proxiedClient } from "./proxies.ts";
import { systemRoots } from "./trust.ts";

/** Limits of a download. */
export interface DownloadLimits {
  /** Milliseconds without a byte. */
  readonly silence: number;
  /** Milliseconds in all, against a server that sends a byte now and then. */
  readonly whole: number;
  /** Bytes after decompression. */
  readonly bytes: number;
}

const LIMITS: DownloadLimits = { silence: 30_000, whole: 600_000, bytes: 64 * 1024 * 1024 };

/** As Go's client. */
const MAX_REDIRECTS = 10;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/**
 * The body of an https URL, in chunks. Trusts the system's roots. Rejects with a MeshError, also while the body is read: a status
 * other than 2xx, a redirect to anything but https, more than ten redirects, a limit, a body that is cut off.
 */
export async function download(url: string, limits: DownloadLimits = LIMITS): Promise<AsyncIterable<Uint8Array>> {
  const client = made(url, () => proxiedClient({ caCerts: [systemRoots()] }));
  const watch = new Watch(limits);
  try {
    const response = await answered(url, client, watch);
    return pieces(url, response, watch, () => client.close());
  } catch (error) {
    watch.end();
    client.close();
    throw downloadError(url, error, watch);
  }
}

function made(url: string, make: () => Deno.HttpClient): Deno.HttpClient {
  try {
    return make();
  } catch (error) {
    throw new MeshError(`Cannot read "${shownUrl(url)}": ${messageOf(error)}`, { cause: error });
  }
}

/** Aborts when nothing arrives for too long. */
class Watch {
  readonly #limits: DownloadLimits;
  readonly #controller = new AbortController();
  readonly #last: ReturnType<typeof setTimeout>;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Why it aborted. */
  reason: string | undefined;

  constructor(limits: DownloadLimits) {
    this.#limits = limits;
    this.#last = setTimeout(() => this.#fire(`it takes longer than ${limits.whole / 1000} s`), limits.whole);
    this.moved();
  }

  get limits(): DownloadLimits {
    return this.#limits;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Restarts the limit of silence after bytes arrived. */
  moved(): void {
    this.pause();
    const { silence } = this.#limits;
    this.#timer = setTimeout(() => this.#fire(`the server sent nothing for ${silence / 1000} s`), silence);
  }

  /** Suspends the limit of silence while no bytes are due from the server. */
  pause(): void {
    clearTimeout(this.#timer);
  }

  end(): void {
    clearTimeout(this.#last);
    this.pause();
  }

  #fire(reason: string): void {
    this.reason ??= reason;
    this.#controller.abort();
  }
}

/** The response after redirects. */
async function answered(start: string, client: Deno.HttpClient, watch: Watch): Promise<Response> {
  let url = start;
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const response = await realFetch(url, { client, redirect: "manual", signal: watch.signal });
    watch.moved();
    if (response.ok) return response;
    await response.body?.cancel();
    const location = response.headers.get("location");
    if (!REDIRECTS.includes(response.status) || location === null) {
      throw refusal(start, `the server answered ${response.status} ${response.statusText}`.trim());
    }
    url = redirected(start, url, location);
  }
  throw refusal(start, `the server redirects more than ${MAX_REDIRECTS} times`);
}

function redirected(start: string, from: string, location: string): string {
  const to = URL.parse(location, from);
  if (to === null) throw refusal(start, "the server redirects to something that is no URL");
  if (to.protocol === "https:") return to.href;
  throw refusal(start, `the server redirects to "${shownUrl(to.href)}", and only https URLs are read`);
}

async function* pieces(
  url: string,
  { body }: Response,
  watch: Watch,
  close: () => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  let size = 0;
  try {
    for await (const piece of body ?? []) {
      size += piece.length;
      if (size > watch.limits.bytes) throw refusal(url, `it is larger than ${watch.limits.bytes} bytes`);
      // The reader may be slow.
      watch.pause();
      yield piece;
      watch.moved();
    }
  } catch (error) {
    throw downloadError(url, error, watch);
  } finally {
    watch.end();
    close();
  }
}

function refusal(url: string, reason: string): MeshError {
  return new MeshError(`Cannot read "${shownUrl(url)}": ${reason}`);
}

/** The hint for TLS errors. */
const TRUST_HINT = "authorities of your own are trusted if SSL_CERT_FILE names a file with them, in PEM";

function downloadError(url: string, error: unknown, watch: Watch): MeshError {
  if (error instanceof MeshError) return error;
  // The runtime's text holds the URL as it was given.
  const reason = watch.reason ?? reasonOf(error).replaceAll(/https?:\/\/[^\s"()]+/g, (found) => shownUrl(found));
  const hint = isRuntimeError(error, "unknownIssuer") ? TRUST_HINT : undefined;
  return new MeshError(`Cannot read "${shownUrl(url)}": ${reason}`, { cause: error, hint });
}
