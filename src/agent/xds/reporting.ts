/** Requests of Envoy's with health reports between them. */
import { messageOf } from "../../core/errors.ts";
import { encodeFrame, FrameReader } from "../../core/grpc/frames.ts";
import type { HealthReport, HealthReports } from "../health/options.ts";
import { LISTENER_TYPE, reportMessage, type RequestForm, typeOf } from "./report_message.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** A body that reports are put into. */
export interface Reporting {
  readonly body: ReadableStream<Bytes>;
  /** Nobody reads it any more. */
  stop(): void;
}

/**
 * Passes on a body as it comes, and between two of its messages the last report that this stream has not had, as soon as
 * listeners were asked for. `failed` is told once if the messages cannot be read: they are passed on without reports then.
 */
export function reporting(
  inner: ReadableStream<Bytes>,
  form: RequestForm,
  reports: HealthReports,
  failed: (problem: string) => void,
): Reporting {
  const passage = new Passage(inner, form, reports, failed);
  const body = new ReadableStream<Bytes>({
    pull: (controller) => passage.pull(controller),
    cancel: (reason) => passage.cancel(reason),
  }, { highWaterMark: 0 });
  return { body, stop: passage.stop };
}

type Controller = ReadableStreamDefaultController<Bytes>;

class Passage {
  readonly #reader: ReadableStreamDefaultReader<Bytes>;
  readonly #gaps: Gaps;
  #told: HealthReport | undefined;
  #isReading = false;
  /** What to do with what was read. */
  #arrived: ((controller: Controller) => void) | undefined;
  #wake = () => {};
  readonly stop: () => void;

  constructor(
    inner: ReadableStream<Bytes>,
    private readonly form: RequestForm,
    private readonly reports: HealthReports,
    failed: (problem: string) => void,
  ) {
    this.#reader = inner.getReader();
    this.#gaps = gapsOf(form, failed);
    this.stop = reports.subscribe(() => this.#wake());
  }

  /** One thing for each call: a report or what Envoy said, whichever is there first. */
  async pull(controller: Controller): Promise<void> {
    for (;;) {
      const report = this.#report();
      if (report !== undefined) return controller.enqueue(report);
      if (this.#arrived === undefined) await this.#something();
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
    if (report === undefined || report === this.#told || !this.#gaps.isOpen()) return undefined;
    this.#told = report;
    return encodeFrame(reportMessage(this.form, report));
  }

  /** Until something was read or reported. One read is under way at most, however much is reported meanwhile. */
  #something(): Promise<void> {
    const woken = new Promise<void>((resolve) => this.#wake = resolve);
    if (!this.#isReading) void this.#read();
    return woken;
  }

  async #read(): Promise<void> {
    this.#isReading = true;
    this.#arrived = await this.#reader.read().then(
      ({ value, done }) => done ? this.#end() : this.#pass(value),
      (error) => this.#end(error),
    );
    this.#isReading = false;
    this.#wake();
  }

  #pass(bytes: Bytes): (controller: Controller) => void {
    return (controller) => {
      controller.enqueue(bytes);
      this.#gaps.passed(bytes);
    };
  }

  #end(error?: unknown): (controller: Controller) => void {
    this.stop();
    return (controller) => error === undefined ? controller.close() : controller.error(error);
  }
}

interface Gaps {
  isOpen(): boolean;
  passed(bytes: Uint8Array): void;
}

/** Where in a body something can be put: between messages, after listeners were asked for. */
function gapsOf(form: RequestForm, failed: (problem: string) => void): Gaps {
  const frames = new FrameReader();
  let hasAsked = false;
  let isReadable = true;
  return {
    isOpen: () => isReadable && hasAsked && !frames.isWithin,
    passed(bytes) {
      if (!isReadable) return;
      try {
        for (const message of frames.push(bytes)) hasAsked ||= typeOf(form, message) === LISTENER_TYPE;
      } catch (error) {
        isReadable = false;
        failed(messageOf(error));
      }
    },
  };
}
