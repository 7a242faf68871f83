/** Inserts health reports into Envoy's requests. */
import { messageOf } from "../../base/errors.ts";
import { encodeFrame, FrameReader } from "../grpc/frames.ts";
import type { HealthReport, HealthReports } from "../health/options.ts";
import { LISTENER_TYPE, reportMessage, type RequestForm, typeOf } from "./report_message.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * Inserts the latest report between two messages of a body, after Envoy has requested listeners. Sends each report only
 * once per stream. If messages cannot be parsed, calls `failed` once and passes the rest unchanged.
 */
export function reporting(
  inner: ReadableStream<Bytes>,
  form: RequestForm,
  reports: HealthReports,
  failed: (problem: string) => void,
) {
  const inserter = new ReportInserter(inner, form, reports, failed);
  const body = new ReadableStream<Bytes>({
    pull: (controller) => inserter.pull(controller),
    cancel: (reason) => inserter.cancel(reason),
  }, { highWaterMark: 0 });
  return { body, stop: () => inserter.stop() };
}

type Controller = ReadableStreamDefaultController<Bytes>;

class ReportInserter {
  readonly #reader: ReadableStreamDefaultReader<Bytes>;
  readonly #frames = new FrameReader();
  /** Whether Envoy has requested listeners on this stream. */
  #hasAsked = false;
  #isReadable = true;
  #sent: HealthReport | undefined;
  #isReading = false;
  #arrived: ((controller: Controller) => void) | undefined;
  #wake = () => {};
  readonly stop: () => void;

  constructor(
    inner: ReadableStream<Bytes>,
    private readonly form: RequestForm,
    private readonly reports: HealthReports,
    private readonly failed: (problem: string) => void,
  ) {
    this.#reader = inner.getReader();
    this.stop = reports.subscribe(() => this.#wake());
  }

  /** Enqueues one chunk per call: a report or Envoy's data, whichever comes first. */
  async pull(controller: Controller): Promise<void> {
    for (;;) {
      const report = this.#report();
      if (report !== undefined) return controller.enqueue(report);
      if (this.#arrived === undefined) await this.#wait();
      const action = this.#arrived;
      this.#arrived = undefined;
      if (action !== undefined) return action(controller);
    }
  }

  async cancel(reason: unknown): Promise<void> {
    this.stop();
    await this.#reader.cancel(reason);
  }

  #report(): Bytes | undefined {
    const report = this.reports.current();
    const isBetweenMessages = this.#isReadable && this.#hasAsked && !this.#frames.isWithin;
    if (report === undefined || report === this.#sent || !isBetweenMessages) return undefined;
    this.#sent = report;
    return encodeFrame(reportMessage(this.form, report));
  }

  /** Waits for data or a report. Keeps at most one read pending. */
  #wait(): Promise<void> {
    const woken = new Promise<void>((resolve) => this.#wake = resolve);
    if (!this.#isReading) void this.#read();
    return woken;
  }

  async #read(): Promise<void> {
    this.#isReading = true;
    this.#arrived = await this.#reader.read().then(
      ({ value, done }) => done ? this.#end() : this.#passOn(value),
      (error) => this.#end(error),
    );
    this.#isReading = false;
    this.#wake();
  }

  #passOn(bytes: Bytes): (controller: Controller) => void {
    return (controller) => {
      controller.enqueue(bytes);
      if (this.#isReadable) this.#parse(bytes);
    };
  }

  #parse(bytes: Bytes): void {
    try {
      for (const message of this.#frames.push(bytes)) this.#hasAsked ||= typeOf(this.form, message) === LISTENER_TYPE;
    } catch (error) {
      this.#isReadable = false;
      this.failed(messageOf(error));
    }
  }

  #end(error?: unknown): (controller: Controller) => void {
    this.stop();
    return (controller) => error === undefined ? controller.close() : controller.error(error);
  }
}
