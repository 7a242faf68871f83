/** Encodes health reports as xDS messages. Source: pilot-agent's health checks, Envoy's API v3. */
import { BinaryWriter, putInteger, putMessage, putString, readMessage } from "../../base/protobuf.ts";
import type { HealthReport } from "../health/options.ts";

/** Field numbers in the requests of a method. */
export interface RequestForm {
  readonly typeUrl: number;
  readonly errorDetail: number;
}

const SERVICE = "/envoy.service.discovery.v3.AggregatedDiscoveryService/";

/** Forms of `DiscoveryRequest` and `DeltaDiscoveryRequest`, by the path of the call. */
const FORMS: ReadonlyMap<string, RequestForm> = new Map([
  [`${SERVICE}StreamAggregatedResources`, { typeUrl: 4, errorDetail: 6 }],
  [`${SERVICE}DeltaAggregatedResources`, { typeUrl: 2, errorDetail: 7 }],
]);

/** Returns the form of a call's requests; `undefined` for calls without reports. */
export function requestForm(path: string): RequestForm | undefined {
  return FORMS.get(path);
}

/** The resource type that istiod treats as a health report. */
export const HEALTH_TYPE = "type.googleapis.com/istio.v1.HealthInformation";
/** The type of a request after which istiod knows a proxy and accepts its reports. */
export const LISTENER_TYPE = "type.googleapis.com/envoy.config.listener.v3.Listener";

const INTERNAL = 13;

/** Encodes a health report. */
export function reportMessage({ typeUrl, errorDetail }: RequestForm, { problem }: HealthReport): Uint8Array {
  const writer = new BinaryWriter();
  putString(writer, typeUrl, HEALTH_TYPE);
  if (problem === undefined) return writer.finish();
  putMessage(writer, errorDetail, (status) => {
    putInteger(status, 1, INTERNAL);
    putString(status, 2, problem);
  });
  return writer.finish();
}

/** Returns the type of a request; `""` if it has none. Throws on invalid bytes. */
export function typeOf({ typeUrl }: RequestForm, request: Uint8Array): string {
  let type = "";
  readMessage(request, { [typeUrl]: (reader) => type = reader.string() });
  return type;
}
