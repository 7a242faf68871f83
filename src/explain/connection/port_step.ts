/** The port station: whether a process listens on the application's port, and on which address. */
import { joinHostPort } from "../../golang/net/mod.ts";
import { hostAndPort } from "../address.ts";
import { type ListeningSocket, listeningSockets, socketsFor } from "../kernel/sockets.ts";
import type { Facts } from "./facts.ts";
import { detailOf, passing, refusing, type Step, unsure } from "./connection_path.ts";

/** Returns the port step: whether a process listens on `target`, the `ADDRESS:PORT` to which the proxy connects. */
export function portStep({ snapshot, pod }: Facts, target: string): Step {
  const { host, port } = hostAndPort(target) ?? {};
  if (host === undefined || port === undefined) {
    return unsure("port", { name: target, message: `${target} is not ADDRESS:PORT` });
  }
  const { text, message: why } = snapshot.parts["sockets.txt"];
  if (text !== undefined) return listeningStep(listeningSockets(text), { target, host, port });
  // A process may not listen on a port even if a container declares it.
  const isDeclared = pod?.applications.some(({ ports }) => ports.includes(port)) === true;
  const declared = isDeclared ? "a container declares the port" : "no container declares the port";
  return unsure("port", { name: target, message: `it is unknown whether a process listens: ${why}; ${declared}` });
}

function listeningStep(
  sockets: readonly ListeningSocket[],
  { target, host, port }: { readonly target: string; readonly host: string; readonly port: number },
): Step {
  const own = sockets.filter((each) => each.port === port);
  const detail = detailOf({ listens: own.map(({ address }) => joinHostPort(address, port)) });
  if (socketsFor(sockets, host, port).length > 0) {
    return passing("port", { name: target, message: `a process listens on ${textOf(own, port)}`, detail });
  }
  if (own.length === 0) {
    const others = [...new Set(sockets.map((each) => each.port))].sort((a, b) => a - b).slice(0, 10).join(", ");
    const message = `no process listens on port ${port}${others === "" ? "" : `, but on ${others}`}: 503 UF`;
    const fix = "start the application on this port, or correct targetPort of the Service";
    return refusing("port", { name: target, message, detail }, fix);
  }
  const isLocal = own.every(({ isLoopback }) => isLoopback);
  const message =
    `the application listens ${isLocal ? "only " : ""}on ${textOf(own, port)}, but the proxy connects to ` +
    `${target}: 503 UF${isLocal ? " (istio/istio#29940)" : ""}`;
  const fix = `make the application listen on 0.0.0.0${
    isLocal ? ", or create a Sidecar with an ingress listener for 127.0.0.1" : ""
  }`;
  return refusing("port", { name: target, message, detail }, fix);
}

function textOf(sockets: readonly ListeningSocket[], port: number): string {
  return sockets.map(({ address }) => joinHostPort(address, port)).join(" and ");
}
