/**
 * Merges the metrics of agent, Envoy and application into one stream of text, so that large or slow endpoints cost no
 * memory. If the client disconnects, all scrapes end.
 */
import { messageOf } from "../../base/errors.ts";
import { type Logger, logText } from "../../platform/log.ts";
import type { Clock, Network } from "../../platform/world.ts";
import { refusal, targetOf } from "../http.ts";
import { acceptFor, formatOf, isOpenMetrics, TEXT_FORMAT } from "./accept.ts";
import type { AgentMetrics, ScrapedPart } from "./agent_metrics.ts";
import { readBounded, withoutEndMark } from "./bounded_body.ts";
import { onAbort, type Scrape, scrape, timeoutOf } from "./scrape.ts";
import type { ScrapeTarget } from "./scrape_targets.ts";

export interface MergeOptions {
  /** Envoy's metrics port; `undefined` excludes Envoy's metrics. */
  readonly envoyPort: number | undefined;
  readonly targets: readonly ScrapeTarget[];
  readonly metrics: AgentMetrics;
  readonly logger: Logger;
}

/**
 * Maximum size of a buffered response, in bytes. Responses are buffered if there are several targets; larger responses
 * are left out, as in Istio.
 */
const MAX_TARGET_BYTES = 10 * 1024 * 1024;
/** Timeout for response headers if the client sends no timeout, in milliseconds: three times Prometheus' default. */
const HEADERS_TIMEOUT = 30_000;

/** Milliseconds of the client's timeout that are reserved, so that the other metrics still arrive. */
const MARGIN = 500;
const CLIENT_GONE = new Error("the client disconnected");
const TIMED_OUT = new Error("the scrape timed out");

type ScrapeWorld = { readonly network: Network; readonly clock: Clock };

/** Maximum number of concurrent scrapes. A client that does not read holds 1 MB in buffers. */
const MAX_CONCURRENT = 20;

/**
 * Returns the handler for scrapes. The status is 200 even if an endpoint fails, because the other metrics are still
 * useful; it is 503 if there are too many concurrent scrapes.
 */
export function metricsMerger(world: ScrapeWorld, options: MergeOptions): (request: Request) => Promise<Response> {
  let inFlight = 0;
  return async (request) => {
    options.metrics.scrapes.add();
    if (inFlight >= MAX_CONCURRENT) return refusal(503, `More than ${MAX_CONCURRENT} concurrent scrapes`);
    inFlight++;
    const run = startRun(world, options, request);
    onAbort(run.end.signal, () => inFlight--);
    return await mergedMetrics(run, request);
  };
}

async function mergedMetrics(run: Run, request: Request): Promise<Response> {
  const { envoyPort, targets } = run.options;
  const envoy = envoyUrl(envoyPort, request);
  const [proxy, ...applications] = await Promise.all([
    envoy === undefined ? undefined : begin(run, "envoy", envoy),
    ...targets.map(({ port, path }) => begin(run, "application", `http://localhost:${port}${path}`)),
  ]);
  run.headersRead();
  if (run.end.signal.aborted) return new Response();
  const format = commonFormat(applications);
  const text = merged(run, proxy, applications, format);
  return new Response(stream(text, run), { headers: { "content-type": format } });
}

interface Run {
  readonly world: ScrapeWorld;
  readonly options: MergeOptions;
  readonly headers: Headers;
  readonly accept: string;
  readonly end: AbortController;
  /** Aborts pending requests and the application's responses; Envoy's metrics are still delivered. */
  readonly deadline: AbortController;
  headersRead(): void;
}

function startRun(world: ScrapeWorld, options: MergeOptions, { headers, signal }: Request): Run {
  const end = new AbortController();
  const deadline = new AbortController();
  const read = new AbortController();
  const timeout = timeoutOf(headers);
  if (typeof timeout === "string") {
    options.logger.warn(logText(`Cannot read the scrape timeout "${timeout}": it is not a number`));
  }
  const limit = typeof timeout === "number"
    ? { milliseconds: timeout - Math.min(MARGIN, timeout / 10), signal: end.signal }
    : { milliseconds: HEADERS_TIMEOUT, signal: AbortSignal.any([end.signal, read.signal]) };
  world.clock.sleep(limit.milliseconds, limit.signal).then(() => limit.signal.aborted || deadline.abort(TIMED_OUT));
  onAbort(signal, () => end.abort(CLIENT_GONE));
  const accept = headers.get("accept") ?? "";
  return { world, options, headers, accept, end, deadline, headersRead: () => read.abort() };
}

function envoyUrl(port: number | undefined, { url }: Request): string | undefined {
  return port === undefined ? undefined : `http://localhost:${port}/stats/prometheus${targetOf(url).query}`;
}

interface RunningScrape extends Scrape {
  readonly signal: AbortSignal;
}

async function begin(run: Run, part: "envoy" | "application", url: string): Promise<RunningScrape | undefined> {
  const { world: { network }, headers, end, deadline } = run;
  const limited = AbortSignal.any([end.signal, deadline.signal]);
  const signal = part === "envoy" ? end.signal : limited;
  const request = { url, accept: acceptFor(part, run.accept), headers, asking: limited, reading: signal };
  try {
    return { ...await scrape(network, request), signal };
  } catch (error) {
    failed(run, part, error);
    return undefined;
  }
}

/** Logs and counts a failed endpoint. A client that disconnects does not count as a failure. */
function failed({ options: { logger, metrics }, end: { signal } }: Run, part: ScrapedPart, error: unknown) {
  if (signal.reason === CLIENT_GONE) return;
  logger.error(logText(`Scraping the metrics of the ${part} failed: ${messageOf(error)}`));
  metrics.scrapeFailed(part);
}

/** Returns the common format of the applications, or the text format if they differ. */
function commonFormat(applications: readonly (RunningScrape | undefined)[]): string {
  const formats = new Set(applications.flatMap((each) => each === undefined ? [] : [formatOf(each.contentType)]));
  const [first = TEXT_FORMAT] = formats;
  return formats.size > 1 ? TEXT_FORMAT : first;
}

type Pieces = AsyncGenerator<Uint8Array, void, void>;

/** Yields the metrics of agent, Envoy and application, in this order, because OpenMetrics' end mark must come last. */
async function* merged(
  run: Run,
  envoy: RunningScrape | undefined,
  applications: readonly (RunningScrape | undefined)[],
  format: string,
): Pieces {
  yield* withLineEnd(agentPart(run));
  if (envoy !== undefined) yield* withLineEnd(streamed(run, "envoy", envoy));
  const [first] = applications;
  if (applications.length === 1 && first !== undefined) return yield* streamed(run, "application", first);
  for (const each of applications) if (each !== undefined) yield* withLineEnd(buffered(run, each));
  if (isOpenMetrics(format)) yield new TextEncoder().encode("# EOF\n");
}

async function* agentPart(run: Run): Pieces {
  try {
    yield new TextEncoder().encode(await run.options.metrics.text());
  } catch (error) {
    failed(run, "agent", error);
  }
}

async function* streamed(run: Run, part: "envoy" | "application", { body, signal }: RunningScrape): Pieces {
  try {
    for (let piece = await body.read(); !piece.done; piece = await body.read()) yield piece.value;
    signal.throwIfAborted();
  } catch (error) {
    failed(run, part, error);
  }
}

/** Yields the response of one of several targets. The response is buffered, to remove its end mark. */
async function* buffered(run: Run, { body, signal }: RunningScrape): Pieces {
  try {
    const pieces = await readBounded(body, MAX_TARGET_BYTES);
    signal.throwIfAborted();
    if (pieces === undefined) {
      failed(run, "application", new Error(`a response is larger than ${MAX_TARGET_BYTES} bytes`));
    } else yield* withoutEndMark(pieces);
  } catch (error) {
    failed(run, "application", error);
  }
}

async function* withLineEnd(pieces: Pieces): Pieces {
  let last: number | undefined;
  for await (const piece of pieces) {
    last = piece.at(-1) ?? last;
    yield piece;
  }
  if (last !== undefined && last !== 0x0a) yield Uint8Array.of(0x0a);
}

function stream(pieces: Pieces, { end }: Run): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await pieces.next();
      if (done !== true) return controller.enqueue(value);
      controller.close();
      end.abort();
    },
    cancel: () => end.abort(CLIENT_GONE),
  }, { highWaterMark: 0 });
}
