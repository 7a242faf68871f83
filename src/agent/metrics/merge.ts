/**
 * The metrics of the agent, of Envoy and of the application as one text. Nothing is held but what is on its way, so that
 * neither the size of an endpoint's answer nor its slowness costs memory; a client that leaves ends every scrape.
 */
import { messageOf } from "../../core/errors.ts";
import { type Logger, logText } from "../../core/log.ts";
import type { Clock, Network } from "../../core/world/world.ts";
import { refusal, targetOf } from "../status/http.ts";
import { acceptFor, formatOf, isOpenMetrics, TEXT_FORMAT } from "./accept.ts";
import type { AgentMetrics, ScrapedPart } from "./agent_metrics.ts";
import { readBounded, withoutEndMark } from "./bounded_body.ts";
import { onAbort, type Scrape, scrape, timeoutOf } from "./scrape.ts";
import type { ScrapeTarget } from "./scrape_targets.ts";

/** What is merged. */
export interface MergeOptions {
  /** The port of Envoy's metrics; `undefined` to leave them out. */
  readonly envoyPort: number | undefined;
  readonly targets: readonly ScrapeTarget[];
  readonly metrics: AgentMetrics;
  readonly logger: Logger;
}

/** How much of an answer is held if there are several targets, one after the other: larger ones are left out, as in Istio. */
const MAX_TARGET_BYTES = 10 * 1024 * 1024;
/** How long an endpoint may take to begin its answer if the client does not say: the default of Prometheus, thrice. */
const HEADERS_TIMEOUT = 30_000;

/** What of a client's time is left when endpoints are given up, so that it still gets the metrics of the others. */
const MARGIN = 500;
const GONE = new Error("the client has gone");
const LATE = new Error("the time for the scrape ran out");

/** The parts of the world that a scrape needs. */
type ScrapeWorld = { readonly network: Network; readonly clock: Clock };

/** How many scrapes may be under way: each holds what is on its way to a client that may not read it (1 MB). */
const MOST_AT_ONCE = 20;

/** Answers scrapes: with 200, since the metrics of one endpoint are of use without those of another; 503 to too many. */
export function metricsMerger(world: ScrapeWorld, options: MergeOptions): (request: Request) => Promise<Response> {
  let underWay = 0;
  return async (request) => {
    options.metrics.scrapes.add();
    if (underWay >= MOST_AT_ONCE) return refusal(503, `More than ${MOST_AT_ONCE} scrapes at once`);
    underWay++;
    const run = startRun(world, options, request);
    onAbort(run.end.signal, () => underWay--);
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

/** One scrape by a client. */
interface Run {
  readonly world: ScrapeWorld;
  readonly options: MergeOptions;
  readonly headers: Headers;
  readonly accept: string;
  /** Ends all that the scrape does. */
  readonly end: AbortController;
  /** Ends what has not begun to answer, and what comes of the application: Envoy's metrics are given all the same. */
  readonly deadline: AbortController;
  /** Every endpoint that will answer has begun to. */
  headersRead(): void;
}

function startRun(world: ScrapeWorld, options: MergeOptions, { headers, signal }: Request): Run {
  const end = new AbortController();
  const deadline = new AbortController();
  const read = new AbortController();
  const timeout = timeoutOf(headers);
  if (typeof timeout === "string") {
    options.logger.warn(logText(`Cannot read the scrape timeout "${timeout}": it is no number`));
  }
  const limit = typeof timeout === "number"
    ? { milliseconds: timeout - Math.min(MARGIN, timeout / 10), signal: end.signal }
    : { milliseconds: HEADERS_TIMEOUT, signal: AbortSignal.any([end.signal, read.signal]) };
  world.clock.sleep(limit.milliseconds, limit.signal).then(() => limit.signal.aborted || deadline.abort(LATE));
  onAbort(signal, () => end.abort(GONE));
  const accept = headers.get("accept") ?? "";
  return { world, options, headers, accept, end, deadline, headersRead: () => read.abort() };
}

function envoyUrl(port: number | undefined, { url }: Request): string | undefined {
  return port === undefined ? undefined : `http://localhost:${port}/stats/prometheus${targetOf(url).query}`;
}

/** A scrape, and what ends it. */
interface Begun extends Scrape {
  readonly signal: AbortSignal;
}

/** Begins to scrape; a failure is logged and counted. */
async function begin(run: Run, part: "envoy" | "application", url: string): Promise<Begun | undefined> {
  const { world: { network }, headers, end, deadline } = run;
  const own = new AbortController();
  const giveUp = () => own.abort(LATE);
  onAbort(end.signal, () => own.abort(end.signal.reason));
  onAbort(deadline.signal, giveUp);
  try {
    const { signal } = own;
    return { ...await scrape(network, { url, accept: acceptFor(part, run.accept), headers, signal }), signal };
  } catch (error) {
    failed(run, part, error);
    return undefined;
  } finally {
    if (part === "envoy") deadline.signal.removeEventListener("abort", giveUp);
  }
}

/** A client that has gone is no failure of an endpoint. */
function failed({ options: { logger, metrics }, end: { signal } }: Run, part: ScrapedPart, error: unknown) {
  if (signal.reason === GONE) return;
  logger.error(logText(`Scraping the metrics of the ${part} failed: ${messageOf(error)}`));
  metrics.scrapeFailed(part);
}

/** The format that all applications answer with; text if they differ. */
function commonFormat(applications: readonly (Begun | undefined)[]): string {
  const formats = new Set(applications.flatMap((each) => each === undefined ? [] : [formatOf(each.contentType)]));
  const [first = TEXT_FORMAT] = formats;
  return formats.size > 1 ? TEXT_FORMAT : first;
}

type Pieces = AsyncGenerator<Uint8Array, void, void>;

/** The parts in their order; the application's come last, since OpenMetrics ends with a mark. */
async function* merged(
  run: Run,
  envoy: Begun | undefined,
  applications: readonly (Begun | undefined)[],
  format: string,
): Pieces {
  yield* withLineEnd(agentPart(run));
  if (envoy !== undefined) yield* withLineEnd(streamed(run, "envoy", envoy));
  const [first] = applications;
  if (applications.length === 1 && first !== undefined) return yield* streamed(run, "application", first);
  for (const each of applications) if (each !== undefined) yield* withLineEnd(held(run, each));
  if (isOpenMetrics(format)) yield new TextEncoder().encode("# EOF\n");
}

async function* agentPart(run: Run): Pieces {
  try {
    yield new TextEncoder().encode(await run.options.metrics.text());
  } catch (error) {
    failed(run, "agent", error);
  }
}

async function* streamed(run: Run, part: "envoy" | "application", { body, signal }: Begun): Pieces {
  try {
    for (let piece = await body.read(); !piece.done; piece = await body.read()) yield piece.value;
    signal.throwIfAborted();
  } catch (error) {
    failed(run, part, error);
  }
}

/** One of several: its end mark is taken off, for which its end must be seen before it is passed on. */
async function* held(run: Run, { body, signal }: Begun): Pieces {
  try {
    const pieces = await readBounded(body, MAX_TARGET_BYTES);
    signal.throwIfAborted();
    if (pieces === undefined) {
      failed(run, "application", new Error(`an answer is larger than ${MAX_TARGET_BYTES} bytes`));
    } else yield* withoutEndMark(pieces);
  } catch (error) {
    failed(run, "application", error);
  }
}

/** Ends a text with a line feed if it has any byte: what follows must begin a line. */
async function* withLineEnd(pieces: Pieces): Pieces {
  let last: number | undefined;
  for await (const piece of pieces) {
    last = piece.at(-1) ?? last;
    yield piece;
  }
  if (last !== undefined && last !== 0x0a) yield Uint8Array.of(0x0a);
}

/** Reads on only when the client does. */
function stream(pieces: Pieces, { end }: Run): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await pieces.next();
      if (done !== true) return controller.enqueue(value);
      controller.close();
      end.abort();
    },
    cancel: () => end.abort(GONE),
  }, { highWaterMark: 0 });
}
