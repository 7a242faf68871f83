/**
 * Builds the command that sends one marked request, and prints the pod's sockets while the connection is open. curl
 * keeps a connection open while it reads the next URL, which is a file. For TCP, bash connects and sends no data.
 */
import { joinHostPort } from "../../golang/net/mod.ts";
import { intAt, textAt, type ValueMap } from "../../base/value.ts";
import { jsonOf } from "../snapshot/json_part.ts";
import { procSockets, type SocketEnd } from "../kernel/sockets.ts";
import type { Connection } from "../question/question.ts";
import type { Sent } from "../evidence.ts";

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProbeRequest {
  readonly command: readonly string[];
  /** Description of the request, such as `GET http://reviews:9080/api`. */
  readonly text: string;
  readonly read: (ran: Ran) => Sent | string;
}

/** Envoy adds this header to responses of endpoints, but not to its own responses. */
export const FROM_ENDPOINT = "x-envoy-upstream-service-time";

/** Files that list the sockets (tcp6 only with IPv6). Each is read twice, because one reading can miss a socket. */
const SOCKETS = ["/proc/net/tcp", "/proc/net/tcp6", "/proc/net/tcp", "/proc/net/tcp6"];
const SECONDS = 10;

/** Puts the mark into headers that Istio's access log shows. */
export function marked(connection: Connection, mark: string): Connection {
  const own = [{ name: "user-agent", value: `kubectl-mesh-probe/${mark}` }, { name: "x-request-id", value: mark }];
  const given = new Set(connection.headers.map(({ name }) => name));
  return { ...connection, headers: [...connection.headers, ...own.filter(({ name }) => !given.has(name))] };
}

/** Returns the command that sends an HTTP request, or opens a TCP connection without data. */
export function probeRequest(connection: Connection, isHttp: boolean, mark: string): ProbeRequest {
  return isHttp ? httpRequest(connection, mark) : tcpRequest(connection);
}

function httpRequest({ host, port, spoken, method, path, headers, sni }: Connection, mark: string): ProbeRequest {
  const scheme = spoken === "tls" ? "https" : "http";
  const name = spoken === "tls" && sni !== undefined ? sni : host;
  const url = `${scheme}://${joinHostPort(name, port)}${path}`;
  const command = ["curl", "-q", "-sS", "-g", "-k", "--path-as-is", "--noproxy", "*"];
  command.push("--connect-timeout", String(SECONDS / 2), "--max-time", String(SECONDS), "-o", "/dev/null", "-D", "-");
  command.push("-w", `\n${mark} %{json}\n${mark}\n`, ...method === "HEAD" ? ["-I"] : ["-X", method]);
  if (name !== host) command.push("--connect-to", `${joinHostPort(name, port)}:${joinHostPort(host, port)}`);
  for (const { name, value } of headers) {
    const header = name === ":authority" ? "host" : name;
    if (!header.startsWith(":")) command.push("-H", value === "" ? `${header};` : `${header}: ${value}`);
  }
  command.push(url, "--next", "-s", ...SOCKETS.map((path) => `file://${path}`));
  return { command, text: `${method} ${url}`, read: (ran) => readCurl(ran, mark) };
}

function readCurl({ code, stdout, stderr }: Ran, mark: string): Sent | string {
  const [headers = "", json, sockets = ""] = stdout.replaceAll(`\n${mark}\n`, `\n${mark} `).split(`\n${mark} `);
  if (json === undefined) return code === 127 ? "curl is not installed" : `curl failed: ${lastLine(stderr)}`;
  const report = jsonOf({ text: json }, "the report").value ?? {};
  return {
    local: end(report, "local"),
    remote: end(report, "remote"),
    status: intAt(report, "response_code") ?? 0,
    headers: new Set(headers.split("\n").map((line) => line.split(":")[0]?.trim().toLowerCase() ?? "")),
    failure: intAt(report, "exitcode") === 0 ? "" : textAt(report, "errormsg") || lastLine(stderr),
    sockets: procSockets(sockets),
  };
}

function end(report: ValueMap, which: "local" | "remote"): SocketEnd | undefined {
  const [address, port] = [textAt(report, `${which}_ip`), intAt(report, `${which}_port`) ?? 0];
  return address === "" || port === 0 ? undefined : { address, port };
}

const CONNECT = 'exec 3<>"/dev/tcp/$0/$1" && readlink /proc/self/fd/3 && cat ' + SOCKETS.join(" ");

function tcpRequest({ host, port }: Connection): ProbeRequest {
  const command = ["timeout", String(SECONDS), "bash", "-c", CONNECT, host, String(port)];
  return { command, text: `a connection to ${joinHostPort(host, port)} without data`, read: readBash };
}

/** Reads the output of the bash command. Ignores its exit code: `cat` fails without IPv6. */
function readBash({ code, stdout, stderr }: Ran): Sent | string {
  const inode = /^socket:\[(\d+)\]/.exec(stdout)?.[1];
  if (inode === undefined && (code === 127 || code === 126)) return "bash is not installed";
  const sockets = procSockets(stdout);
  const own = sockets.find((each) => each.inode === inode);
  const failure = inode !== undefined ? "" : code === 124 ? `no connection within ${SECONDS}s` : bashError(stderr);
  return { local: own?.local, remote: own?.remote, status: 0, headers: new Set(), failure, sockets };
}

/** Returns bash's first line without its prefix: the reason in `db: line 1: db: Name or service not known`. */
function bashError(text: string): string {
  return text.trim().split("\n")[0]?.replace(/^.*?: line \d+: /, "") ?? "";
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? "";
}
