/**
 * Reads a line of the proxy's access log in one of Istio's default formats, text or JSON with the same fields
 * (pilot/pkg/model/telemetry_logging.go).
 */
import type { Answer } from "../answer_schema.ts";
import { jsonOf } from "../snapshot/json_part.ts";

/** The values of an access log line; `undefined` if absent. */
export interface LogLine {
  readonly chain: string | undefined;
  readonly route: string | undefined;
  readonly cluster: string | undefined;
  readonly host: string | undefined;
  /** Status and response flags, such as `503 UF`, or `0 UF` for TCP. */
  readonly outcome: string | undefined;
  readonly flags: string | undefined;
  /** Response code details, such as `rbac_access_denied_matched_policy[none]`. */
  readonly details: string | undefined;
}

export interface Marks {
  readonly mark: string;
  /** The client's end of the connection, such as `10.1.0.9:40112`. */
  readonly own: string;
  readonly direction: Answer["direction"];
}

/**
 * Returns the line of a request; `undefined` if no line has a known format. An outbound request that returns to the pod
 * also has an inbound line, which is ignored.
 */
export function lineOf(log: string, { mark, own, direction }: Marks): LogLine | undefined {
  const lines = log.split("\n").filter((line) => line.includes(mark) || line.includes(own));
  const isOwn = (line: string) => direction === "inbound" || !line.includes("inbound|");
  return lines.filter(isOwn).map((line) => ofJson(line, own) ?? ofText(line, own))
    .find((line) => line !== undefined);
}

function ofJson(line: string, own: string): LogLine | undefined {
  const { value } = jsonOf({ text: line }, "the line");
  if (value === undefined) return undefined;
  const text = (name: string) => valueOf(String(value[name] ?? "-"));
  const client = text("downstream_remote_address");
  if (client !== undefined && client !== own) return undefined;
  const flags = text("response_flags");
  return {
    chain: text("filter_chain_name"),
    route: text("route_name"),
    cluster: clusterName(text("upstream_cluster")),
    host: text("upstream_host"),
    outcome: text("response_code") === undefined ? undefined : `${text("response_code")} ${flags ?? ""}`.trim(),
    flags,
    details: text("response_code_details"),
  };
}

const START = /"[^"]*" (\d{1,3}) (\S+) (\S+) /;
/** The end of a log line: upstream host, cluster, addresses (upstream local, downstream local, remote), SNI, route. */
const END = /"([^"]*)" (\S+) \S+ \S+ (\S+) \S+ (\S+)$/;

function ofText(line: string, own: string): LogLine | undefined {
  const [, code, flag, details] = START.exec(line) ?? [];
  const [, host, cluster, client, route] = END.exec(line.trimEnd()) ?? [];
  if (client !== own) return undefined;
  const flags = valueOf(flag);
  return {
    chain: undefined,
    route: valueOf(route),
    cluster: clusterName(valueOf(cluster)),
    host: valueOf(host),
    outcome: code === undefined ? undefined : `${code} ${flags ?? ""}`.trim(),
    flags,
    details: valueOf(details),
  };
}

/** Returns a value; `undefined` for the dash that Envoy writes for an absent value. */
function valueOf(text: string | undefined): string | undefined {
  return text === "-" || text === "" ? undefined : text;
}

/** Returns a cluster name without the semicolon at the end of an alternative stat name. */
function clusterName(text: string | undefined): string | undefined {
  return text?.replace(/;$/, "");
}
