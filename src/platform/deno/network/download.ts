/**
 * Downloads of URLs from users and from mesh configuration. The server is untrusted: size and time are limited, and redirects
 * never lead from https to http.
 */
import { MeshError } from "../../../base/errors.ts";
import { shownUrl, withShownUrls } from "../../../base/shown_url.ts";
import { AnswerError, type Download, type DownloadLimits, type HttpClient } from "../../http.ts";
import { isRuntimeError, reasonOf } from "../../runtime_errors.ts";
import { openClient } from "./client.ts";

const LIMITS: DownloadLimits = { silence: 30_000, whole: 600_000, bytes: 64 * 1024 * 1024 };

/** Maximum number of redirects, the same as in Go's HTTP client. */
const MAX_REDIRECTS = 10;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/**
 * Downloads the body of a URL in chunks. Trusts the system's roots. Rejects with an AnswerError for a status other than
 * 2xx, and with a MeshError (also while the body is read) for a refused redirect, an exceeded limit, or a truncated
 * body.
 */
export async function download(url: string, options: Download = {}): Promise<AsyncIterable<Uint8Array>> {
  const watch = new Watch({ ...LIMITS, ...options.limits }, options.signal);
  let client: HttpClient | undefined;
  try {
    const { response, client: used } = await answered(url, options, watch);
    client = used;
    return pieces(url, response, watch, client);
  } catch (error) {
    watch.end();
    throw downloadError(url, error, watch);
  }
}

/** Aborts a download that takes too long in total, or that receives no data for too long. */
class Watch {
  readonly limits: DownloadLimits;
  readonly #controller = new AbortController();
  readonly #last: ReturnType<typeof setTimeout>;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Fires at a limit or with the caller's signal. */
  readonly signal: AbortSignal;
  /** The limit that aborted the download, as text for the error. */
  reason: string | undefined;

  constructor(limits: DownloadLimits, signal: AbortSignal | undefined) {
    this.limits = limits;
    this.signal = AbortSignal.any([this.#controller.signal, ...signal === undefined ? [] : [signal]]);
    this.#last = setTimeout(() => this.#fire(`the download takes longer than ${limits.whole / 1000} s`), limits.whole);
    this.moved();
  }

  /** Restarts the silence timeout after bytes arrive. */
  moved(): void {
    this.pause();
    const { silence } = this.limits;
    this.#timer = setTimeout(() => this.#fire(`the server sent nothing for ${silence / 1000} s`), silence);
  }

  /** Suspends the silence timeout while the reader is busy. */
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

interface Answered {
  readonly response: Response;
  readonly client: HttpClient;
}

/** Requests a URL, follows redirects, and returns the final response. */
async function answered(start: string, options: Download, watch: Watch): Promise<Answered> {
  let [url, headers] = [new URL(start), options.headers ?? {}];
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const client = openClient({ server: url.origin, insecure: options.insecure });
    try {
      const response = await asked(url, client, { ...options, headers, signal: watch.signal });
      watch.moved();
      if (response.ok) return { response, client };
      await response.body?.cancel();
      const location = response.headers.get("location");
      if (!REDIRECTS.includes(response.status) || location === null) throw refused(start, response);
      const next = redirected(start, url, location, options);
      // Credentials must not go to another server.
      if (next.origin !== url.origin) headers = {};
      url = next;
    } catch (error) {
      client.close();
      throw error;
    }
    client.close();
  }
  throw refusal(start, `the server redirects more than ${MAX_REDIRECTS} times`);
}

async function asked(url: URL, client: HttpClient, { headers = {}, form, signal }: Download): Promise<Response> {
  const init: RequestInit = { headers: { ...userOf(url), ...headers }, redirect: "manual", signal: signal ?? null };
  const request = form === undefined ? init : { ...init, method: "POST", body: new URLSearchParams(form) };
  return await client.request(url.pathname + url.search, request);
}

/** Returns the `authorization` header for the user and password in a URL. */
function userOf({ username, password }: URL): Record<string, string> {
  if (username === "" && password === "") return {};
  const pair = `${decoded(username)}:${decoded(password)}`;
  return { authorization: `Basic ${new TextEncoder().encode(pair).toBase64()}` };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // An invalid escape: keep the percent sign as it is.
    return text;
  }
}

function redirected(start: string, from: URL, location: string, { form, follows }: Download): URL {
  const to = URL.parse(location, from);
  if (to === null) throw refusal(start, "the server redirects to an invalid URL");
  const shown = `the server redirects to "${shownUrl(to.href)}"`;
  if (form !== undefined) throw refusal(start, `${shown}, but credentials must not follow a redirect`);
  if (to.protocol !== "https:" && (to.protocol !== "http:" || from.protocol !== "http:")) {
    throw refusal(start, `${shown}, but only https URLs are allowed`);
  }
  if (follows?.(to) === false) throw refusal(start, `${shown}, which is not allowed`);
  return to;
}

async function* pieces(
  url: string,
  { body }: Response,
  watch: Watch,
  client: HttpClient,
): AsyncGenerator<Uint8Array, void, undefined> {
  let size = 0;
  try {
    for await (const piece of body ?? []) {
      size += piece.length;
      if (size > watch.limits.bytes) throw refusal(url, `the body is larger than ${watch.limits.bytes} bytes`);
      // A slow reader must not count as a silent server.
      watch.pause();
      yield piece;
      watch.moved();
    }
  } catch (error) {
    throw downloadError(url, error, watch);
  } finally {
    watch.end();
    client.close();
  }
}

function refusal(url: string, reason: string): MeshError {
  return new MeshError(`Cannot read "${shownUrl(url)}": ${reason}`);
}

function refused(url: string, { status, statusText, headers }: Response): AnswerError {
  const text = `the server answered ${status} ${statusText}`.trim();
  return new AnswerError(`Cannot read "${shownUrl(url)}": ${text}`, status, headers);
}

const TRUST_HINT = "to trust your own authorities, set SSL_CERT_FILE to a PEM file with their certificates";

function downloadError(url: string, error: unknown, watch: Watch): MeshError {
  if (error instanceof MeshError) return error;
  // The runtime's text contains the full URL, which may include credentials.
  const reason = watch.reason ?? withShownUrls(reasonOf(error));
  const hint = isRuntimeError(error, "unknownIssuer") ? TRUST_HINT : undefined;
  return new MeshError(`Cannot read "${shownUrl(url)}": ${reason}`, { cause: error, hint });
}
