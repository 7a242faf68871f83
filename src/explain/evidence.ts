/** The raw results of `--probe`. */
import type { Part, PartName, Snapshot } from "./snapshot/snapshot.ts";
import type { Connection } from "./question/question.ts";
import type { ProcSocket, SocketEnd } from "./kernel/sockets.ts";

/** A snapshot with the results of `--probe`. */
export interface ProbedSnapshot extends Snapshot {
  readonly probe?: Evidence;
}

/** One request, and Envoy's state before and after the request. */
export interface Evidence {
  /** Description of the request, such as `GET http://reviews:9080/api as UID 1000`. */
  readonly request: string;
  /** The connection of the request. Its headers contain the mark. */
  readonly connection: Connection;
  readonly uid: number | undefined;
  /** Text that is unique to this request, to find its line in the access log. */
  readonly mark: string;
  /** The result of the request; a string is the reason why it was not sent. */
  readonly sent: Sent | string;
  readonly before: Counted;
  readonly after: Counted;
  /** The kernel's rules after the request; empty if unreadable. */
  readonly rules: ReadonlyMap<PartName, Part>;
  readonly log: Part;
}

export interface Counted {
  /** Response of `/clusters?format=json`. */
  readonly clusters: Part;
  /** Response of `/stats`, filtered to the counters of listeners. */
  readonly listeners: Part;
}

export interface Sent {
  /** The probe's end of the connection; `undefined` without a connection. */
  readonly local: SocketEnd | undefined;
  readonly remote: SocketEnd | undefined;
  /** Status of the response; 0 without a response. */
  readonly status: number;
  /** Names of the response headers, in lower case. */
  readonly headers: ReadonlySet<string>;
  /** Why the connection or the response is missing; empty on success. */
  readonly failure: string;
  /** The sockets of the pod while the connection was open. */
  readonly sockets: readonly ProcSocket[];
}

/** Socket states of an open connection: ESTABLISHED, and CLOSE_WAIT, in which only the peer has closed its end. */
const OPEN = ["01", "08"];

/** Returns the other end of the connection if that end is in the pod; `left` if an open connection leaves the pod. */
export function otherEnd({ local, sockets }: Sent): ProcSocket | "left" | undefined {
  const isOwn = (end: SocketEnd) => end.address === local?.address && end.port === local.port;
  const accepted = sockets.find(({ remote }) => isOwn(remote));
  if (accepted !== undefined) return accepted;
  return sockets.some((each) => OPEN.includes(each.state) && isOwn(each.local)) ? "left" : undefined;
}
