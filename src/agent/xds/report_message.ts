/** Health reports as messages of xDS. Source: pilot-agent's health checks, Envoy's API v3. */
import { BinaryWriter, putInteger, putMessage, putString, readMessage } from "../../core/protobuf.ts";
import type { HealthReport } from "../health/options.ts";

/** The numbers of the fields that matter here, in the requests of a method. */
export interface RequestForm {
  readonly typeUrl: number;
  readonly errorDetail: number;
}

const SERVICE = "/envoy.service.discovery.v3.AggregatedDiscoveryService/";

/** By the path of the call: `DiscoveryRequest` and `DeltaDiscoveryRequest`. */
const FORMS: ReadonlyMap<string, RequestForm> = new Map([
  [`${SERVICE}StreamAggregatedResources`, { typeUrl: 4, errorDetail: 6 }],
  [`${SERVICE}DeltaAggregatedResources`, { typeUrl: 2, errorDetail: 7 }],
]);

/** The form of the requests of a call; `undefined` for one that has no place for reports. */
export function requestForm(path: string): RequestForm | undefined {
  return FORMS.get(path);
}

/** What istiod takes for a report. */
export const HEALTH_TYPE = "type.googleapis.com/istio.v1.HealthInformation";
/** What a proxy has asked for when istiod knows it: reports count from then on. */
export const LISTENER_TYPE = "type.googleapis.com/envoy.config.listener.v3.Listener";

/** gRPC's code "internal". */
const INTERNAL = 13;

/** The bytes of a report. */
export function reportMessage({ typeUrl, errorDetail }: RequestForm, { problem }: HealthReport): Uint8Array {
  const writer = new BinaryWriter();
  putString(writer, typeUrl, HEALTH_TYPE);
  if (problem === undefined) return writer.finish();
  // google.rpc.Status
  putMessage(writer, errorDetail, (status) => {
    putInteger(status, 1, INTERNAL);
    putString(status, 2, problem);
  });
  return writer.finish();
}

/** The type that a request asks for; `""` if it has none. Errors: the bytes are no message. */
export function typeOf({ typeUrl }: RequestForm, request: Uint8Array): string {
  let type = "";
  readMessage(request, { [typeUrl]: (reader) => type = reader.string() });
  return type;
}
