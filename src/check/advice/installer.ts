/** Finds the installer of a control plane in annotations, and returns the command that recreates a lost object. */
import { FLAGS_ANNOTATION, readFlags } from "../../istio/annotations/installation.ts";
import { textAt, type ValueMap } from "../../base/value.ts";
import { type Advice, harmless, type Need } from "./advice.ts";
import { shellQuoted } from "../../base/text/mod.ts";
import { kubectl, needOf } from "./commands.ts";

/** The flags of `webhook manifests`, or a Helm release, from annotations. istioctl sets no such annotation. */
export type Installer = { readonly flags: readonly string[] } | Release;

interface Release {
  readonly release: string;
  readonly namespace: string;
}

/** Annotations of every object of a Helm release. Source: Helm, "Resource ownership". */
const HELM = { release: "meta.helm.sh/release-name", namespace: "meta.helm.sh/release-namespace" };

/** Returns the installer that annotations name. `isOwn`: the object belongs to this program's webhook. */
export function installerIn(annotations: ValueMap, isOwn: boolean): Installer | undefined {
  if (isOwn) {
    const flags = readFlags(textAt(annotations, FLAGS_ANNOTATION));
    return flags && { flags };
  }
  const [release, namespace] = [textAt(annotations, HELM.release), textAt(annotations, HELM.namespace)];
  return release === "" || namespace === "" ? undefined : { release, namespace };
}

export interface Lost {
  readonly kind: "ConfigMap" | "Service" | "Deployment" | "MutatingWebhookConfiguration";
  readonly namespace: string;
  /** Port of the existing Service, or the port that a webhook configuration calls; `undefined` if unknown. */
  readonly port?: number | undefined;
}

/** Istio's charts and `webhook manifests` set this label on webhook configurations only. */
const OF_WEBHOOKS = ["-l", "app=sidecar-injector"];
const FILES = /^--(?:inject-config|values|mesh-config)=(.*)$/;

/** Advice to recreate a missing object, or to restore a changed one (`isThere`), if the installer creates it. */
export function madeAgain(installer: Installer, { kind, namespace, port }: Lost, isThere = false): Advice | undefined {
  const printed = "flags" in installer ? byFlags(withPort(installer.flags, port), kind) : byHelm(installer, kind);
  if (printed === undefined) return undefined;
  const { by, print, chosen = [], needs = [] } = printed;
  const { change, apply, verb } = isThere ? CHANGED : MISSING;
  const { name: _all, ...need } = needOf(verb, { kind, namespace, name: "" });
  const command = `${print} | ${kubectl("apply", ...apply, ...chosen, "-f", "-")}`;
  const reach = kind === "MutatingWebhookConfiguration" ? "webhook" : "mesh";
  return harmless(`${change} ${by}`, reach, { command, needs: [...needs, need] });
}

const MISSING = { change: "recreate the object", apply: [], verb: "create" };
const CHANGED = {
  change: "restore the selectors of the webhooks",
  apply: ["--server-side", "--force-conflicts"],
  verb: "patch",
};

interface Printed {
  /** A phrase that follows a change such as `recreate the object`, and says which installer makes the change. */
  readonly by: string;
  readonly print: string;
  /** Flags of `kubectl apply` that select some of the printed objects. */
  readonly chosen?: readonly string[];
  readonly needs?: readonly Need[];
}

/** Sets `--service-port`, or removes it for 443, the default of `webhook manifests`. */
function withPort(flags: readonly string[], port: number | undefined): readonly string[] {
  if (port === undefined) return flags;
  const others = flags.filter((each) => !each.startsWith(SERVICE_PORT));
  return port === USUAL_PORT ? others : [...others, `${SERVICE_PORT}${port}`];
}

const USUAL_PORT = 443;
const SERVICE_PORT = "--service-port=";

function byFlags(flags: readonly string[], kind: Lost["kind"]): Printed | undefined {
  if (kind === "ConfigMap" && flags.includes("--from-cluster")) return undefined;
  const files = flags.flatMap((each) => FILES.exec(each)?.[1] ?? []);
  const where = files.length === 0 ? "" : `, in the folder of ${files.join(" and ")}`;
  return {
    by: `with the flags of its installation${where}`,
    print: kubectl("mesh", "webhook", "manifests", ...flags, "--only", kind),
  };
}

function byHelm({ release, namespace }: Release, kind: Lost["kind"]): Printed {
  const isWebhook = kind === "MutatingWebhookConfiguration";
  return {
    by: `from the Helm release "${release}"${isWebhook ? "" : ", which undoes manual changes of its objects"}`,
    print: ["helm", "get", "manifest", release, "-n", namespace].map(shellQuoted).join(" "),
    chosen: isWebhook ? OF_WEBHOOKS : [],
    needs: [{ verb: "list", group: "", resource: "secrets", namespace }],
  };
}
