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
  const text = (name: string) => String(value[name] ?? "-");
  const client = text("downstream_remote_address");
  return client !== "-" && client !== own ? undefined : lineWith({
    chain: text("filter_chain_name"),
    route: text("route_name"),
    cluster: text("upstream_cluster"),
    host: text("upstream_host"),
    code: text("response_code"),
    flags: text("response_flags"),
    details: text("response_code_details"),
  });
}

const START = /"[^"]*" (\d{1,3}) (\S+) (\S+) /;
/** The end of a log line: upstream host, cluster, addresses (upstream local, downstream local, remote), SNI, route. */
const END = /"([^"]*)" (\S+) \S+ \S+ (\S+) \S+ (\S+)$/;

function ofText(line: string, own: string): LogLine | undefined {
  const [, code = "-", flags = "-", details = "-"] = START.exec(line) ?? [];
  const [, host = "-", cluster = "-", client, route = "-"] = END.exec(line.trimEnd()) ?? [];
  return client === own ? lineWith({ chain: "-", route, cluster, host, code, flags, details }) : undefined;
}

/** Returns the values of a line. Envoy writes a dash for an absent value. */
function lineWith(texts: Readonly<Record<Exclude<keyof LogLine, "outcome"> | "code", string>>): LogLine {
  const valueOf = (text: string) => text === "-" || text === "" ? undefined : text;
  const [code, flags] = [valueOf(texts.code), valueOf(texts.flags)];
  return {
    chain: valueOf(texts.chain),
    route: valueOf(texts.route),
    // An alternative stat name ends with a semicolon.
    cluster: valueOf(texts.cluster)?.replace(/;$/, ""),
    host: valueOf(texts.host),
    outcome: code === undefined ? undefined : `${code} ${flags ?? ""}`.trim(),
    flags,
    details: valueOf(texts.details),
  };
}
