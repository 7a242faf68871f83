/** Starts and stops the DNS server. */
import { logText } from "../../../platform/log.ts";
import type { World } from "../../../platform/world.ts";
import { Forwarder } from "../upstream/forward.ts";
import { isOwnAddress, listenAll, type Listening, listenPlan } from "./listen.ts";
import type { Lookup } from "./lookup.ts";
import { type ServerOptions, TUNING, type Tuning } from "../options.ts";
import { ResolverFile } from "../upstream/resolv_conf.ts";
import { Resolver } from "./resolver.ts";
import { TcpServer } from "./tcp.ts";

const STANDARD_ADDRESS = "localhost:15053";
/**
 * File with the upstream servers, for a virtual machine whose own resolv.conf names this server. The path is Istio's.
 */
const OTHER_RESOLV_CONF = "/var/lib/istio/resolv.conf";

/** Starts the server. Rejects with a MeshError if no address can be bound. */
export async function startServer(world: World, options: ServerOptions) {
  const { log } = options;
  const tuning = { ...TUNING, ...options.tuning };
  const place = await placeOf(world, options, tuning);
  const file = new ResolverFile(world, place.resolvConf, tuning.upstreamPort, log);
  const { servers } = await file.read();
  const end = new AbortController();
  const forwarder = new Forwarder({
    ...tuning,
    network: world.network,
    isParallel: options.isParallel,
    upstreamTimeout: options.upstreamTimeout,
    log,
    signal: end.signal,
  });
  let listening: readonly Listening[] = [];
  const resolver = new Resolver({
    forwarder,
    conf: () => file.current(),
    isOwn: (server) => isOwnAddress(world.network, listening, server),
    answersBeforeTable: place.isOnlyServer,
    onLoop: once(() => log.error(logText(LOOP))),
    random: tuning.random,
    cacheBytes: tuning.cacheBytes,
    clock: world.clock,
  });
  const tcp = new TcpServer(resolver, tuning.idle);
  const plan = listenPlan(place.address, servers);
  listening = await listenAll(world.network, plan, (connection) => tcp.accept(connection), log);
  const served = listening.map(({ udp }) => udp.serve((message, port) => resolver.answer(message, "udp", port)));
  const port = listening[0]?.tcp.port ?? plan.port;
  log.info(logText(`Serving DNS on port ${port} of ${listening.map(({ host }) => host).join(" and ")}`));
  return {
    port,
    use: (lookup: Lookup) => resolver.use(lookup),
    collect: resolver.collect,
    async close(): Promise<void> {
      if (end.signal.aborted) return;
      end.abort(new Error("the server ends"));
      for (const { udp } of listening) udp.close();
      await Promise.all(listening.map((each) => each.tcp.close()));
      await Promise.all([...served, tcp.ended()]);
    },
  };
}

const LOOP = "DNS forwarding loop: a forwarded question came back to the agent. The traffic of the agent's user " +
  "is captured: run the agent as the excluded user (1337), or exclude its user";

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) act();
    isDone = true;
  };
}

interface Place {
  readonly address: string;
  readonly resolvConf: string;
  /**
   * Whether this server is the only name server of a virtual machine, and so also resolves the control plane's name.
   */
  readonly isOnlyServer: boolean;
}

/** Determines the address and resolv.conf. Port 53 is for virtual machines without traffic capture, and needs root. */
async function placeOf({ files, machine }: World, { address, log }: ServerOptions, tuning: Tuning): Promise<Place> {
  const plain = { address, resolvConf: tuning.resolvConf, isOnlyServer: false };
  if (!address.endsWith(":53")) return plain;
  if (machine.uid !== 0) {
    log.error(logText(`"DNS_PROXY_ADDR" is "${address}", but port 53 needs root: using "${STANDARD_ADDRESS}" instead`));
    return { ...plain, address: STANDARD_ADDRESS };
  }
  const hasOther = await files.stat(OTHER_RESOLV_CONF) !== undefined;
  return { address, resolvConf: hasOther ? OTHER_RESOLV_CONF : tuning.resolvConf, isOnlyServer: true };
}
