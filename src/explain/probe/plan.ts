/** Plans a probe: the request and the user that sends it, or the reason why no request can be sent. */
import type { Answer, Station } from "../answer_schema.ts";
import { answerWith } from "../connection/answer.ts";
import { captureInbound, captureOutbound } from "../connection/capture_step.ts";
import type { Facts } from "../connection/facts.ts";
import { senderOf } from "../connection/sender.ts";
import type { Connection } from "../question/question.ts";

export interface ProbeUser {
  readonly uid: number;
  readonly gid: number;
}

export interface ProbePlan {
  /** The connection that the answer explains. */
  readonly connection: Connection;
  /** The connection that the probe opens; its host is the destination. */
  readonly sent: Connection;
  readonly user: ProbeUser;
  /** Whether the kernel redirects the request to Envoy only for this user. */
  readonly needsUser: boolean;
  readonly isHttp: boolean;
}

/** UID of the probe if the image sets the application's user. No kernel rule names this UID. */
export const SOME_USER = 65_532;

/** Returns the probe for a connection, or a message that says why it cannot be sent. */
export function probePlan(facts: Facts, asked: Connection): ProbePlan | string {
  if (asked.direction === "inbound") return inboundPlan(facts, asked);
  const { uid = SOME_USER, gid = uid } = senderOf(facts.pod);
  const isHttp = isRequest(asked, () => answerWith(facts, asked).stations.some(({ kind }) => kind === "route"));
  return { connection: asked, sent: asked, user: { uid, gid }, needsUser: false, isHttp };
}

/** Whether the probe sends an HTTP request: by default, if Envoy reads HTTP on this port. A TCP probe sends no data. */
function isRequest({ spoken }: Connection, isRead: () => boolean): boolean {
  return spoken === "unsaid" ? isRead() : spoken !== "tcp";
}

/**
 * Returns the probe of an inbound connection. It runs as the proxy's user and connects in plain text to the pod's own
 * address, which the kernel redirects to Envoy's inbound listener.
 */
function inboundPlan(facts: Facts, asked: Connection): ProbePlan | string {
  const { host: from, port } = asked;
  const usual = answerWith(facts, asked);
  if (!usual.stations.some(({ kind }) => kind === "listener")) {
    return `${usual.reason}: Envoy does not receive the connection`;
  }
  if (isTproxy(facts, usual)) {
    return "TPROXY keeps the client's address, but a probe from inside the pod can only use the pod's address";
  }
  const own = facts.addresses.find((each) => each.includes(":") === from.includes(":"));
  if (own === undefined) return `the pod has no known address of the IP family of ${from}`;
  const needs = certificateText(usual, port);
  if (needs !== undefined) return needs;
  const connection: Connection = { ...asked, isPlain: true };
  // A connection from inside the pod matches other kernel rules.
  const inEnvoy: Facts = { ...facts, kernel: { source: "unknown", why: "" } };
  const [expected, inside] = [from, own].map((host) => answerWith(inEnvoy, { ...connection, host }).stations);
  const other = expected?.find((station, at) => JSON.stringify(station) !== JSON.stringify(inside?.[at]));
  if (other !== undefined) {
    return `a probe comes from ${own} instead of ${from}, and for ${from} the ${other.kind} differs: ${other.message}`;
  }
  const user = proxyUser(facts, from, own, port);
  if (user === undefined) {
    return "no kernel rule redirects connections of the proxy's user to the proxy's inbound port";
  }
  const isHttp = isRequest(connection, () => tlsOf(usual)?.detail["isHttp"] === true);
  return { connection, sent: { ...connection, host: own }, user, needsUser: true, isHttp };
}

/** Whether TPROXY is used. Envoy then connects to the application from the client's address. */
function isTproxy({ pod }: Facts, { stations }: Answer): boolean {
  const rule = stations.find(({ kind }) => kind === "kernel")?.detail["text"] ?? "";
  return /TPROXY|tproxy/.test(`${rule} ${pod?.proxyEnvironment["ISTIO_META_INTERCEPTION_MODE"]}`);
}

/** The proxy's user in Istio. Istio's rules name its UID and its GID. */
const ISTIO_USER: ProbeUser = { uid: 1337, gid: 1337 };

/** Returns a non-root user whose connections to the pod's own address the kernel redirects as inbound. */
function proxyUser(facts: Facts, from: string, own: string, port: number): ProbeUser | undefined {
  const { uid = 0, gid = uid } = facts.pod?.proxyUser ?? {};
  const users = uid === 0 ? [ISTIO_USER] : [ISTIO_USER, { uid, gid }];
  if (facts.kernel.rules === undefined) return users.at(-1);
  const outside = captureInbound(facts, from, port).port;
  return users.find((user) => captureOutbound(facts, { ...senderOf(facts.pod), ...user }, own, port).port === outside);
}

/** Returns why the port needs a client certificate, which a probe does not have; `undefined` if not needed. */
function certificateText(answer: Answer, port: number): string | undefined {
  const { detail = {}, result, message } = tlsOf(answer) ?? {};
  if (detail["plainText"] === false && detail["mutualTls"] === true) {
    return `port ${port} accepts only mutual TLS (${detail["mode"]}), but a probe has no certificate of the mesh`;
  }
  return result === "warning" && message !== undefined ? `${message}, but a probe has no certificate` : undefined;
}

/** Returns the station of the port's mTLS mode. */
function tlsOf({ stations }: Answer): Station | undefined {
  return stations.find(({ kind }) => kind === "tls");
}
