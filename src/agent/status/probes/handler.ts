import { requestFailure } from "../../../platform/request_failure.ts";
import { type Logger, logText } from "../../../platform/log.ts";
import type { World } from "../../../platform/world.ts";
import { targetOf, textAnswer } from "../../http.ts";
import { ask, type ProbeResult } from "./ask.ts";
import type { Prober, Probers } from "./config.ts";
import { probeSource } from "./source.ts";

export interface ProbeSettings {
  readonly probers: Probers;
  /** The IP address of the pod, or `localhost`. */
  readonly host: string;
  /** Offer HTTP/2 to https probes (ISTIO_ENABLE_HTTP2_PROBING). */
  readonly isHttp2Offered: boolean;
}

/** Returns the handler for `/app-health/...` and `/app-lifecycle/...`. */
export function probeHandler(world: World, settings: ProbeSettings, statusPort: () => number, logger: Logger) {
  const { host, isHttp2Offered } = settings;
  const common = { network: world.network, host, isHttp2Offered };
  const source = probeSource(world, host, logger);
  return async (request: Request): Promise<Response> => {
    const { path } = targetOf(request.url);
    const prober = settings.probers.get(path);
    if (prober === undefined) {
      logger.error(logText(`Unknown application probe "${path}"`));
      return textAnswer(400, `app prober config does not exists for ${path}`);
    }
    const signal = deadline(prober, request.signal);
    try {
      const target = { ...common, headers: request.headers, signal, source: source(), statusPort: statusPort() };
      return responseOf(await ask(target, prober));
    } catch (error) {
      const { text } = requestFailure(error, prober.timeoutSeconds * 1000);
      logger.error(logText(`Application probe "${path}" failed: ${text}`));
      return textAnswer(500, "");
    }
  };
}

function deadline({ timeoutSeconds }: Prober, client: AbortSignal): AbortSignal {
  if (timeoutSeconds === 0) return client;
  return AbortSignal.any([client, AbortSignal.timeout(timeoutSeconds * 1000)]);
}

const WITHOUT_BODY = [204, 205, 304];

/** Returns the response for the kubelet. A status outside HTTP's range becomes a failure. */
function responseOf({ status, body }: ProbeResult): Response {
  if (status < 200 || status > 599) return textAnswer(500, "");
  if (body === undefined || WITHOUT_BODY.includes(status)) return new Response(null, { status });
  const headers = { "content-type": "text/plain; charset=utf-8", "content-length": String(body.length) };
  return new Response(body, { status, headers });
}
