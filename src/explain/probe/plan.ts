/** What a probe sends and as which user, or why it cannot be sent. */
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
  /** The kernel redirects the request to Envoy only for this user. */
  readonly needsUser: boolean;
  readonly isHttp: boolean;
}

/** The user if only the image sets it. No kernel rule names this UID. */
export const SOME_USER = 65_532;

/** The probe of a connection; a string says why it cannot be sent. */
export function probePlan(facts: Facts, asked: Connection): ProbePlan | string {
  if (asked.direction === "inbound") return inboundPlan(facts, asked);
  const { uid = SOME_USER, gid = uid } = senderOf(facts.pod);
  const isHttp = isRequest(asked, () => answerWith(facts, asked).stations.some(({ kind }) => kind === "route"));
  return { connection: asked, sent: asked, user: { uid, gid }, needsUser: false, isHttp };
}

/** Whether the probe sends an HTTP request. By default it does if Envoy reads HTTP; a TCP server gets no byte. */
function isRequest({ spoken }: Connection, isRead: () => boolean): boolean {
  return spoken === "unsaid" ? isRead() : spoken !== "tcp";
}

/**
 * The probe of an inbound connection. It runs as the proxy's user and connects to the pod's own address: the kernel
 * redirects that to Envoy's inbound listener. The stations are the same as for a client outside the pod; the source
 * address differs, and the probe is plain text.
 */
function inboundPlan(facts: Facts, asked: Connection): ProbePlan | string {
  const { host: from, port } = asked;
  const usual = answerWith(facts, asked);
  if (!usual.stations.some(({ kind }) => kind === "listener")) return `${usual.reason}: Envoy gets no such connection`;
  if (isTproxy(facts, usual)) return "TPROXY keeps the client's address, and a probe from inside the pod has no other";
  const own = facts.addresses.find((each) => each.includes(":") === from.includes(":"));
  if (own === undefined) return `the pod has no known address of the family of ${from}`;
  const needs = certificateText(usual, port);
  if (needs !== undefined) return needs;
  const connection: Connection = { ...asked, isPlain: true };
  const [expected, inside] = [from, own].map((host) => answerWith(capturing(facts), { ...connection, host }));
  const other = expected?.stations.find((station, at) => !isSame(station, inside?.stations[at]));
  if (other !== undefined) {
    return `a probe comes from ${own}, the address ${from} cannot be made, and for it the ${other.kind} is another one: ` +
      other.message;
  }
  const user = proxyUser(facts, { from, own, port });
  if (user === undefined) {
    return "no kernel rule redirects a connection of the proxy's user to the proxy's inbound port";
  }
  const isHttp = isRequest(connection, () => tlsOf(usual)?.detail["isHttp"] === true);
  return { connection, sent: { ...connection, host: own }, user, needsUser: true, isHttp };
}

/** With TPROXY Envoy connects from the client's address: the kernel may confuse that connection with the probe's. */
function isTproxy({ pod }: Facts, { stations }: Answer): boolean {
  const rule = stations.find(({ kind }) => kind === "kernel")?.detail["text"] ?? "";
  return /TPROXY|tproxy/.test(`${rule} ${pod?.proxyEnvironment["ISTIO_META_INTERCEPTION_MODE"]}`);
}

/** The proxy's user in Istio. Istio's rules name its UID and its GID. */
const ISTIO_USER: ProbeUser = { uid: 1337, gid: 1337 };

/** A user whose connections to the pod's own address the kernel redirects like inbound ones. Root is never tried. */
function proxyUser(
  facts: Facts,
  { from, own, port }: { readonly from: string; readonly own: string; readonly port: number },
): ProbeUser | undefined {
  const { uid = 0, gid = uid } = facts.pod?.proxyUser ?? {};
  const users = uid === 0 ? [ISTIO_USER] : [ISTIO_USER, { uid, gid }];
  if (facts.kernel.rules === undefined) return users.at(-1);
  const outside = captureInbound(facts, from, port).port;
  return users.find((user) => captureOutbound(facts, { ...senderOf(facts.pod), ...user }, own, port).port === outside);
}

/** Why the port needs a certificate, which a probe does not have; `undefined` if it needs none. */
function certificateText(answer: Answer, port: number): string | undefined {
  const { detail = {}, result, message } = tlsOf(answer) ?? {};
  if (detail["plainText"] === false && detail["mutualTls"] === true) {
    return `port ${port} takes mutual TLS alone (${detail["mode"]}), and a probe has no certificate of the mesh`;
  }
  return result === "warning" && message !== undefined ? `${message}, which a probe does not have` : undefined;
}

/** The station of the port's mode. */
function tlsOf({ stations }: Answer): Station | undefined {
  return stations.find(({ kind }) => kind === "tls");
}

/** Facts with unknown kernel rules: connections from inside the pod match other rules than a client's. */
function capturing(facts: Facts): Facts {
  return { ...facts, kernel: { source: "unknown", why: "" } };
}

function isSame(station: object, other: object | undefined): boolean {
  return JSON.stringify(station) === JSON.stringify(other);
}
