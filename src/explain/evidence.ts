/** What a probe left behind, as raw answers. */
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
  /** With the mark in its headers. */
  readonly connection: Connection;
  /** The user who sent it. */
  readonly uid: number | undefined;
  /** Unique to this request. */
  readonly mark: string;
  /** A string says why it was not sent. */
  readonly sent: Sent | string;
  readonly before: Counted;
  readonly after: Counted;
  /** The rules of the kernel after it; empty where they cannot be read. */
  readonly rules: ReadonlyMap<PartName, Part>;
  readonly log: Part;
}

export interface Counted {
  /** `/clusters?format=json`. */
  readonly clusters: Part;
  /** `/stats` of listeners. */
  readonly listeners: Part;
}

export interface Sent {
  /** Its own end; `undefined` if it had no connection. */
  readonly local: SocketEnd | undefined;
  readonly remote: SocketEnd | undefined;
  /** Of the response; 0 without one. */
  readonly status: number;
  /** Names of the response's headers, in lower case. */
  readonly headers: ReadonlySet<string>;
  /** Why there was no connection or no response; empty if all went well. */
  readonly failure: string;
  /** The sockets of the pod while the connection was open. */
  readonly sockets: readonly ProcSocket[];
}

/** ESTABLISHED and CLOSE_WAIT: the server may have closed its end. */
const OPEN = ["01", "08"];

/** The other end of the connection in the pod; `left`: the connection is open and ends outside of the pod. */
export function otherEnd({ local, sockets }: Sent): ProcSocket | "left" | undefined {
  const isOwn = (end: SocketEnd) => end.address === local?.address && end.port === local.port;
  const accepted = sockets.find(({ remote }) => isOwn(remote));
  if (accepted !== undefined) return accepted;
  return sockets.some((each) => OPEN.includes(each.state) && isOwn(each.local)) ? "left" : undefined;
}
