/** Inserts health reports into Envoy's requests. */
import { encodeFrame, FrameReader } from "../grpc/frames.ts";
import type { HealthReport, HealthReports } from "../health/options.ts";
import { LISTENER_TYPE, reportMessage, type RequestForm, typeOf } from "./report_message.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * Inserts the latest report between two messages of a body, after Envoy has requested listeners. Sends each report only
 * once per stream. The body fails if its messages cannot be parsed.
 */
export function reporting(inner: ReadableStream<Bytes>, form: RequestForm, reports: HealthReports) {
  const frames = new FrameReader();
  /** Whether Envoy has requested listeners on this stream. */
  let hasAsked = false;
  let sent: HealthReport | undefined;
  let stop = () => {};
  function report(controller: TransformStreamDefaultController<Bytes>): void {
    const current = reports.current();
    if (!hasAsked || current === undefined || current === sent) return;
    sent = current;
    controller.enqueue(encodeFrame(reportMessage(form, current)));
  }
  const body = inner.pipeThrough(
    new TransformStream<Bytes, Bytes>({
      start(controller) {
        stop = reports.subscribe(() => report(controller));
      },
      transform(bytes, controller) {
        try {
          for (const message of frames.push(bytes)) {
            controller.enqueue(encodeFrame(message));
            hasAsked ||= typeOf(form, message) === LISTENER_TYPE;
          }
        } catch (error) {
          stop();
          throw error;
        }
        report(controller);
      },
      flush: () => stop(),
      cancel: () => stop(),
    }),
  );
  return { body, stop: () => stop() };
}
