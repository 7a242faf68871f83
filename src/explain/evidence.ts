/** The raw results of a probe. */
import type { Part, PartName, Snapshot } from "./snapshot/snapshot.ts";
import type { Connection } from "./question/question.ts";
import type { ProcSocket, SocketEnd } from "./kernel/sockets.ts";

/** A snapshot with the evidence of `--probe`. */
export interface ProbedSnapshot extends Snapshot {
  readonly probe?: Evidence;
}

/** One request, and what was read before and after it. */
export interface Evidence {
  /** `GET http://reviews:9080/api as UID 1000`. */
  readonly request: string;
  /** Its headers contain the mark. */
  readonly connection: Connection;
  /** The user who sent it. */
  readonly uid: number | undefined;
  /** Unique to this request. */
  readonly mark: string;
  /** A string says why it was not sent. */
  readonly sent: Sent | string;
  readonly before: Counted;
  readonly after: Counted;
  /** The kernel's rules after the request; empty if they cannot be read. */
  readonly rules: ReadonlyMap<PartName, Part>;
  readonly log: Part;
}

export interface Counted {
  /** `/clusters?format=json`. */
  readonly clusters: Part;
  /** `/stats`, filtered to listeners. */
  readonly listeners: Part;
}

export interface Sent {
  /** The probe's end of the connection; `undefined` without a connection. */
  readonly local: SocketEnd | undefined;
  readonly remote: SocketEnd | undefined;
  /** Status of the response; 0 without a response. */
  readonly status: number;
  /** Names of the response's headers, in lower case. */
  readonly headers: ReadonlySet<string>;
  /** Why the connection or the response is missing; empty on success. */
  readonly failure: string;
  /** The sockets of the pod while the connection was open. */
  readonly sockets: readonly ProcSocket[];
}

/** ESTABLISHED and CLOSE_WAIT: the server may have closed its end. */
const OPEN = ["01", "08"];

/** The other end of the connection, if it is in the pod. `left`: the connection is open and ends outside the pod. */
export function otherEnd({ local, sockets }: Sent): ProcSocket | "left" | undefined {
  const isOwn = (end: SocketEnd) => end.address === local?.address && end.port === local.port;
  const accepted = sockets.find(({ remote }) => isOwn(remote));
  if (accepted !== undefined) return accepted;
  return sockets.some((each) => OPEN.includes(each.state) && isOwn(each.local)) ? "left" : undefined;
}
