import { EXIT, UsageError } from "../../core/errors.ts";
import type { World } from "../../core/world/world.ts";
import type { ServeOptions } from "../../webhook/mod.ts";
import { durationValue, numberValue } from "../flag_values.ts";
import { type Flag, readFlags, type Reading } from "../flags.ts";
import { CHOICE_FLAGS, CONNECTION_FLAGS, KEPT_FLAGS, SERVE, SERVE_FLAGS, serveHelp } from "./webhook_serve_flags.ts";

/** `kubectl mesh webhook serve [flags]`. */
export async function webhookServe(world: World, args: readonly string[]): Promise<number> {
  const flags = readFlags(SERVE_FLAGS, args, SERVE);
  if (flags.isOn("help")) {
    world.stdout.write(serveHelp());
    return EXIT.ok;
  }
  const [word] = [...flags.words, ...flags.rest ?? []];
  if (word !== undefined) throw new UsageError(`Unexpected argument "${word}"`, { hint: `see "${SERVE} --help"` });
  refuseUseless(flags);
  const workers = flags.text("workers");
  const room = await import("../../webhook/mod.ts");
  return await room.serveWebhook(world, {
    listen: room.listenAddress("listen", flags.text("listen") ?? ":15017"),
    plainListen: room.listenAddress("plain-listen", flags.text("plain-listen") ?? ":8080"),
    configuration: configuration(flags),
    fromCluster: fromCluster(flags),
    certificate: flags.isOn("self-managed-certs") ? keptCertificate(flags) : certificateFiles(flags),
    connection: { kubeconfig: flags.text("kubeconfig"), context: flags.text("context") },
    shutdownDelay: durationValue("shutdown-delay", flags.text("shutdown-delay") ?? "5s"),
    shutdownTimeout: durationValue("shutdown-timeout", flags.text("shutdown-timeout") ?? "15s"),
    workers: workers === undefined ? undefined : numberValue("workers", workers, { least: 0, most: 64 }),
    log: { format: flags.text("log-format"), level: flags.text("log-level") },
  });
}

/** Flags that only count beside another one. */
const NEEDS: readonly (readonly [flags: readonly Flag[], switches: readonly string[]])[] = [
  [KEPT_FLAGS, ["self-managed-certs"]],
  [CHOICE_FLAGS, ["from-cluster"]],
  [CONNECTION_FLAGS, ["from-cluster", "self-managed-certs"]],
];

/** A flag without an effect is a mistake that would be hard to see. */
function refuseUseless(flags: Reading): void {
  for (const [group, switches] of NEEDS) {
    const given = group.find(({ name }) => flags.text(name) !== undefined);
    if (given === undefined || switches.some((name) => flags.isOn(name))) continue;
    const hint = `add ${switches.map((name) => `--${name}`).join(" or ")}`;
    throw new UsageError(`The flag --${given.name} is about a cluster`, { hint });
  }
}

function configuration(flags: Reading): ServeOptions["configuration"] {
  return {
    config: flags.text("inject-config") ?? flags.text("injectConfigFile"),
    values: flags.text("values") ?? flags.text("valuesFile"),
    mesh: flags.text("mesh-config") ?? flags.text("meshConfigFile"),
    revision: flags.text("revision") ?? "default",
  };
}

/** Files are one way to configure, the cluster is another: which would count would be hard to see. */
function fromCluster(flags: Reading): ServeOptions["fromCluster"] {
  if (!flags.isOn("from-cluster")) return undefined;
  const { config, values, mesh } = configuration(flags);
  if (config ?? values ?? mesh) {
    throw new UsageError("The configuration comes from files or with --from-cluster, not both");
  }
  return {
    istioNamespace: flags.text("istioNamespace"),
    injectConfigMapName: flags.text("injectConfigMapName"),
    meshConfigMapName: flags.text("meshConfigMapName"),
  };
}

function certificateFiles(flags: Reading): ServeOptions["certificate"] {
  const [certificate, key] = [flags.text("tls-cert"), flags.text("tls-key")];
  if (certificate !== undefined && key !== undefined) return { certificate, key };
  const missing = [certificate === undefined ? "--tls-cert" : "", key === undefined ? "--tls-key" : ""];
  throw new UsageError(`There is no certificate to serve: give ${missing.filter(Boolean).join(" and ")}`, {
    hint: "or --self-managed-certs, which keeps one in the cluster",
  });
}

/** The defaults are the names that `webhook manifests` gives. */
function keptCertificate(flags: Reading): ServeOptions["certificate"] {
  const files = ["tls-cert", "tls-key"].filter((name) => flags.text(name) !== undefined);
  if (files.length > 0) {
    throw new UsageError("The certificate comes from files or with --self-managed-certs, not both");
  }
  const { revision } = configuration(flags);
  const suffix = revision === "default" || revision === "" ? "" : `-${revision}`;
  const name = flags.text("service") ?? `kubectl-mesh-webhook${suffix}`;
  return {
    service: { name, namespace: flags.text("namespace") ?? "istio-system" },
    secret: flags.text("certificate-secret") ?? `${name}-certificates`,
    configurations: (flags.text("webhook-config") ?? `istio-sidecar-injector${suffix}`).split(",").filter(Boolean),
  };
}
