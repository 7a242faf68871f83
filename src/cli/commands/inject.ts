import { Command, Option } from "@commander-js/extra-typings";
import type { Session } from "../session.ts";

/** Collects a flag that may be repeated and may hold a comma list, as kubectl's `-f`. */
function commaList(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...value.split(",")];
}

/** `inject`: its flags and help. The work is `inject_run.ts`. */
export function injectCommand(session: Session) {
  return new Command("inject")
    .summary("write manifests with the sidecar injected")
    .description(
      "Write manifests with the mesh's sidecar injected into their pods.\n\n" +
        "What is not touched keeps its bytes. No cluster is contacted without --from-cluster. Manifests go to standard output; a line for each " +
        "resource, with the reason, goes to standard error. Exit code 1 if any resource failed, 2 if the command line is wrong.",
    )
    .option(
      "-f, --filename <file>",
      "file, directory, https URL or - for standard input; repeatable, comma lists",
      commaList,
    )
    .option("-R, --recursive", "read the directories below a directory too")
    .option("-n, --namespace <namespace>", "namespace of resources that name none; one that names another is an error")
    .option("-o, --output <yaml|json|FILE>", "format, or the file to write to (only if all went well)", "yaml")
    .addOption(
      new Option("--report <format>", "what to say on standard error").choices(["text", "json", "none"])
        .default("text" as const),
    )
    .optionsGroup("Configuration (built-in unless given):")
    .option("--inject-config <file>", "injector configuration, its ConfigMap, or a template")
    .option("--values <file>", "values of the configuration, YAML or JSON")
    .option("--mesh-config <file>", "mesh configuration, or its ConfigMap")
    .addOption(new Option("--injectConfigFile <file>").hideHelp())
    .addOption(new Option("--valuesFile <file>").hideHelp())
    .addOption(new Option("--meshConfigFile <file>").hideHelp())
    .option("--from-cluster", "what is not given as a file is read from the ConfigMaps of the cluster's control plane")
    .option("-r, --revision <revision>", "revision of the control plane", "default")
    .option("--hub <hub>", "registry and folder of the images")
    .option("--tag <tag>", "tag of the images")
    .option("--cni", "traffic is captured by the CNI plugin: no init container with privileges")
    .option("--native-sidecars", "the sidecar is an init container that keeps running (Kubernetes 1.29 and later)")
    .option("--show-config", "print the configuration in use and stop")
    .optionsGroup("Cluster (with --from-cluster):")
    .option("-i, --istioNamespace <namespace>", "namespace of the control plane", "istio-system")
    .option("--injectConfigMapName <name>", "ConfigMap of the injector (istio-sidecar-injector, or with -REVISION)")
    .option("--meshConfigMapName <name>", "ConfigMap of the mesh (istio, or with -REVISION)")
    .option("--kubeconfig <file>", "kubeconfig file (KUBECONFIG, ~/.kube/config)")
    .option("--context <name>", "context of the kubeconfig")
    .option("--cluster <name>", "cluster of the kubeconfig")
    .option("--user <name>", "user of the kubeconfig")
    .usage("-f FILE|DIR|URL|- [flags]")
    .addHelpText("after", EXAMPLES)
    .action(async (options) => {
      const { runInject } = await import("./inject_run.ts");
      session.exitCode = await runInject(session.world, options);
    });
}

/** The flags of `inject` as read. */
export type InjectFlags = ReturnType<ReturnType<typeof injectCommand>["opts"]>;

const EXAMPLES = `
Examples:
  kubectl mesh inject -f web.yaml | kubectl apply -f -
  kubectl mesh inject -f manifests/ -R -o injected.yaml
  kubectl mesh inject -f web.yaml -o web.yaml                 # in place
  helm template web chart/ | kubectl mesh inject -f -

  # start a configuration of your own from the built-in one
  kubectl mesh inject --show-config > injector.yaml
  kubectl mesh inject -f web.yaml --inject-config injector.yaml

  # with what an Istio control plane uses: from its cluster, or from files
  kubectl mesh inject -f web.yaml --from-cluster
  kubectl get configmap -n istio-system istio-sidecar-injector -o yaml > injector.yaml
  kubectl get configmap -n istio-system istio -o yaml > mesh.yaml
  kubectl mesh inject -f web.yaml --inject-config injector.yaml --mesh-config mesh.yaml
`;
