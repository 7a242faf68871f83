import { EXIT, UsageError } from "../../core/errors.ts";
import type { World } from "../../core/world/world.ts";
import type { ManifestOptions } from "../../webhook/mod.ts";
import { numberValue } from "../flag_values.ts";
import { type Flag, readFlags, type Reading } from "../flags.ts";
import { helpText } from "../help.ts";
import { VERSION } from "../../version.ts";

const PROGRAM = "kubectl mesh webhook manifests";

/** Without a registry: it is for the user to say where images are. */
const IMAGE = `kubectl-mesh:${VERSION}`;

const INSTALLATION_FLAGS: readonly Flag[] = [
  { name: "image", value: "image", help: `image with kubectl-mesh on its PATH (default "${IMAGE}")` },
  { name: "namespace", short: "n", value: "namespace", help: 'where it runs (default "istio-system")' },
  { name: "replicas", value: "number", help: "pods that serve it (default 2)" },
];

const SELECTION_FLAGS: readonly Flag[] = [
  {
    name: "revision",
    short: "r",
    value: "revision",
    help: 'revision that namespaces and pods name (default "default")',
  },
  { name: "tag", value: "tag", help: "another name of the revision; repeatable, comma lists" },
  {
    name: "failure-policy",
    value: "Fail|Ignore",
    help: "what becomes of pods while the webhook is down: refused, or created without a sidecar (default Fail)",
  },
  {
    name: "namespace-selector",
    value: "selector",
    help: "labels that namespaces must have too, as kubectl reads them",
  },
];

const CONFIGURATION_FLAGS: readonly Flag[] = [
  { name: "inject-config", value: "file", help: "injector configuration, its ConfigMap, or a template" },
  { name: "values", value: "file", help: "values of the configuration, YAML or JSON" },
  { name: "mesh-config", value: "file", help: "mesh configuration, or its ConfigMap" },
  { name: "hub", value: "hub", help: "registry and folder of the proxy's images" },
  { name: "proxy-tag", value: "tag", help: "tag of the proxy's images" },
  { name: "cni", help: "traffic is captured by the CNI plugin: no init container with privileges" },
];

const CLUSTER_FLAGS: readonly Flag[] = [
  { name: "from-cluster", help: "the webhook reads the ConfigMaps of a control plane in its place, and watches them" },
  { name: "istioNamespace", short: "i", value: "namespace", help: 'where they are (default "istio-system")' },
  {
    name: "injectConfigMapName",
    value: "name",
    help: "that of the injector (istio-sidecar-injector, or with -REVISION)",
  },
  { name: "meshConfigMapName", value: "name", help: "that of the mesh (istio, or with -REVISION)" },
];

/** A values file of Istio's chart is some KB, its injector configuration some 100 KB. */
const MAX_CONFIG_BYTES = 16 * 1024 * 1024;

/** `kubectl mesh webhook manifests [flags]`. */
export async function webhookManifests(world: World, args: readonly string[]): Promise<number> {
  const known = [...INSTALLATION_FLAGS, ...SELECTION_FLAGS, ...CONFIGURATION_FLAGS, ...CLUSTER_FLAGS];
  const flags = readFlags(known, args, PROGRAM);
  if (flags.isOn("help")) {
    world.stdout.write(help());
    return EXIT.ok;
  }
  const [word] = [...flags.words, ...flags.rest ?? []];
  if (word !== undefined) throw new UsageError(`Unexpected argument "${word}"`, { hint: `see "${PROGRAM} --help"` });
  world.permissions.keepOnly(["read", "env"]);
  const room = await import("../../webhook/mod.ts");
  world.stdout.write(room.webhookManifests(await options(world, flags)));
  return EXIT.ok;
}

async function options(world: World, flags: Reading): Promise<ManifestOptions> {
  const replicas = flags.text("replicas");
  const [configuration, cluster] = [await givenConfiguration(world, flags), fromCluster(flags)];
  if (cluster !== undefined && Object.values(configuration).some((each) => each !== undefined)) {
    throw new UsageError("The configuration comes from files and flags or with --from-cluster, not both");
  }
  return {
    image: flags.text("image") ?? IMAGE,
    namespace: flags.text("namespace"),
    revision: flags.text("revision"),
    tags: flags.all("tag").flatMap((tag) => tag.split(",")),
    failurePolicy: flags.text("failure-policy"),
    namespaceSelector: flags.text("namespace-selector"),
    replicas: replicas === undefined ? undefined : numberValue("replicas", replicas, { least: 1 }),
    configuration,
    fromCluster: cluster,
  };
}

async function givenConfiguration(
  world: World,
  flags: Reading,
): Promise<NonNullable<ManifestOptions["configuration"]>> {
  const source = async (name: string) => {
    const file = flags.text(name);
    return file === undefined ? undefined : { text: await world.files.readText(file, MAX_CONFIG_BYTES), file };
  };
  return {
    config: await source("inject-config"),
    values: await source("values"),
    mesh: await source("mesh-config"),
    hub: flags.text("hub"),
    tag: flags.text("proxy-tag"),
    cni: flags.isOn("cni") ? true : undefined,
  };
}

function fromCluster(flags: Reading): ManifestOptions["fromCluster"] {
  if (flags.isOn("from-cluster")) {
    return {
      istioNamespace: flags.text("istioNamespace"),
      injectConfigMapName: flags.text("injectConfigMapName"),
      meshConfigMapName: flags.text("meshConfigMapName"),
    };
  }
  const alone = CLUSTER_FLAGS.find(({ name, value }) => value !== undefined && flags.text(name) !== undefined);
  if (alone === undefined) return undefined;
  throw new UsageError(`The flag --${alone.name} is about a cluster`, { hint: "add --from-cluster" });
}

function help(): string {
  return helpText({
    usage: `${PROGRAM} [flags]`,
    description:
      "Print what has to be applied to run the webhook in a cluster: accounts and rights, Deployment, Service, " +
      "configuration, and the MutatingWebhookConfigurations that call it. Nothing is contacted. Applied again it changes nothing.",
    flags: {
      "Installation:": INSTALLATION_FLAGS,
      "Which pods:": SELECTION_FLAGS,
      "Configuration (built-in unless given):": CONFIGURATION_FLAGS,
      "Configuration from the cluster:": CLUSTER_FLAGS,
    },
    after: AFTER,
  });
}

const AFTER = `
Examples:
  kubectl mesh webhook manifests --image example.com/kubectl-mesh:1 | kubectl apply -f -
  kubectl mesh webhook manifests --image example.com/kubectl-mesh:1 --from-cluster | kubectl apply -f -
  kubectl mesh webhook manifests --image example.com/kubectl-mesh:2 --revision canary --tag prod
`;
