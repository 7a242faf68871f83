/** The port station: whether a process listens on the application's port, and on which address. */
import { joinHostPort, splitHostPort } from "../../golang/net/mod.ts";
import { type ListeningSocket, listeningSockets, socketsFor } from "../kernel/sockets.ts";
import type { Facts } from "./facts.ts";
import { detailOf, passing, refusing, type Step, unsure } from "./connection_path.ts";

/** Returns the port step: whether a process listens on `target`, the `ADDRESS:PORT` to which the proxy connects. */
export function portStep({ snapshot, pod }: Facts, target: string): Step {
  const parts = splitHostPort(target);
  if (typeof parts === "string") return unsure("port", { name: target, message: `${target} is not ADDRESS:PORT` });
  const port = Number(parts.port);
  const { text, message } = snapshot.parts["sockets.txt"];
  if (text === undefined) {
    return unread(pod?.applications.some(({ ports }) => ports.includes(port)) === true, target, message ?? "");
  }
  const sockets = listeningSockets(text);
  const own = sockets.filter((each) => each.port === port);
  const detail = detailOf({ listens: own.map(({ address }) => joinHostPort(address, port)) });
  if (socketsFor(sockets, parts.host, port).length > 0) {
    return passing("port", { name: target, message: `a process listens on ${textOf(own, port)}`, detail });
  }
  if (own.length === 0) {
    const others = [...new Set(sockets.map((each) => each.port))].sort((a, b) => a - b).slice(0, 10).join(", ");
    const listens = others === "" ? "" : `, but on ${others}`;
    const fix = "start the application on this port, or correct targetPort of the Service";
    return refusing(
      "port",
      { name: target, message: `no process listens on port ${port}${listens}: 503 UF`, detail },
      fix,
    );
  }
  if (own.every(({ isLoopback }) => isLoopback)) {
    const found = `the application listens only on ${textOf(own, port)}, but the proxy connects to ${target}`;
    const fix = "make the application listen on 0.0.0.0, or create a Sidecar with an ingress listener for 127.0.0.1";
    return refusing("port", { name: target, message: `${found}: 503 UF (istio/istio#29940)`, detail }, fix);
  }
  const found = `the application listens on ${textOf(own, port)}, but the proxy connects to ${target}: 503 UF`;
  return refusing("port", { name: target, message: found, detail }, "make the application listen on 0.0.0.0");
}

function textOf(sockets: readonly ListeningSocket[], port: number): string {
  return sockets.map(({ address }) => joinHostPort(address, port)).join(" and ");
}

/**
 * Returns the step if the sockets are unknown. Even if a container declares the port, a process may not listen on it.
 */
function unread(isDeclared: boolean, target: string, why: string): Step {
  const declared = isDeclared ? "a container declares the port" : "no container declares the port";
  return unsure("port", { name: target, message: `it is unknown whether a process listens: ${why}; ${declared}` });
}
