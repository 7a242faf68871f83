/** Rules about containers that conflict with the sidecar, or that the sidecar breaks. */
import { mapAt, mapsAt, textAt, type ValueMap } from "../../base/value.ts";
import {
  containersOfProxyUser,
  initContainersWithoutNetwork,
  otherMeshSidecars,
  portConflicts,
  PROXY_UID,
} from "../pod/conflicts.ts";
import { allContainers, type ContainerList, containersOf, TEMPLATE_CONTAINERS } from "../pod/pod.ts";
import { hasSidecar, podField, type PodRule, type Problem, type Subject } from "./rule.ts";

export const CONTAINER_RULES: readonly PodRule[] = [
  {
    id: "init-network",
    severity: "warning",
    title: "An application init container has no network, because traffic is captured before the proxy runs",
    on: "injected",
    problems(subject) {
      const without = new Set(initContainersWithoutNetwork(subject.injected ?? {}));
      return named(subject, ["initContainers"], (name) => without.has(name)).map(({ field, name }) => ({
        field,
        message: `The init container "${name}" will have no network, because traffic is captured before the proxy runs`,
        fix: `use native sidecars, or run the container as user ${PROXY_UID}`,
      }));
    },
  },
  {
    id: "proxy-user",
    severity: "error",
    istio: "IST0144",
    title: `An application container runs as the proxy's user ${PROXY_UID}, so its traffic is not captured`,
    on: "injected",
    problems(subject) {
      const users = new Set(hasSidecar(subject) ? containersOfProxyUser(subject.pod) : []);
      return named(subject, ["containers"], (name) => users.has(name)).map(({ field, name }) => ({
        field,
        message: `The container "${name}" runs as the proxy's user ${PROXY_UID}, so its traffic is not captured`,
        fix: "run the container as another user",
      }));
    },
  },
  {
    id: "proxy-port",
    severity: "error",
    title: "An application container declares a port on which the proxy listens",
    on: "injected",
    problems(subject) {
      const conflicts = hasSidecar(subject) ? portConflicts(subject.pod) : [];
      return conflicts.map(({ port, container, use }) => ({
        field: portField(subject, container, port),
        message: `The container "${container}" declares port ${port}, on which the proxy listens (${use})`,
        fix: "use another port for the application",
      }));
    },
  },
  {
    id: "other-mesh",
    severity: "error",
    title: "The pod has the sidecar of another mesh, so two meshes capture the same traffic",
    on: "injected",
    problems: (subject) =>
      otherMeshSidecars(subject.pod).map(({ container, mesh }) => ({
        field: podField(subject, "spec.containers"),
        message: `The pod has the sidecar of ${mesh} ("${container}"), so two meshes capture the same traffic`,
        fix: "remove one of the two sidecars",
      })),
  },
  {
    id: "docker-in-pod",
    severity: "warning",
    title: "The pod runs Docker, whose containers cannot connect through the proxy",
    on: "injected",
    problems: (subject) =>
      named(subject, ["initContainers", "containers"], (_, image) => isDocker(image)).map(({ field, name }) => ({
        field: `${field}.image`,
        message: `The container "${name}" runs Docker, but traffic of Docker's containers is not captured, ` +
          "and Docker's iptables rules may override the rules that capture the pod's traffic",
        fix: 'opt out with the label "sidecar.istio.io/inject: false"',
      })),
  },
  {
    id: "image-auto",
    severity: "error",
    istio: "IST0147",
    title: 'An image is "auto", but injection does not replace it',
    on: "any",
    problems(subject) {
      const auto = allContainers(subject.injected ?? subject.pod).filter(({ image }) => image === "auto");
      const names = new Set(auto.map((each) => textAt(each, "name")));
      return named(subject, ["initContainers", "containers"], (name) => names.has(name)).map(({ field, name }) => ({
        field: `${field}.image`,
        message: `The image of the container "${name}" is "auto", but injection does not replace it in this pod`,
        fix: 'enable injection, with a template that contains this container (annotation "inject.istio.io/templates")',
      }));
    },
  },
  {
    id: "read-only-root",
    severity: "note",
    title: "All application containers have a read-only root file system, but an injected container does not",
    on: "injected",
    problems(subject) {
      const isAdded = (each: ValueMap) => TEMPLATE_CONTAINERS.includes(textAt(each, "name"));
      const own = allContainers(subject.pod).filter((each) => !isAdded(each));
      if (own.length === 0 || !own.every(isReadOnly)) return [];
      const added = allContainers(subject.injected ?? {}).filter((each) => isAdded(each) && !isReadOnly(each));
      return added.map((each) => ({
        field: podField(subject, "spec.containers"),
        message: "All application containers have a read-only root file system, " +
          `but the injected container "${textAt(each, "name")}" does not`,
        fix: "use the CNI plugin (--cni), or exempt this container from the policy",
      }));
    },
  },
];

/** Whether an image runs Docker, such as `docker:dind`, `docker:27-dind-rootless` or `example.com/dind`. */
function isDocker(image: string): boolean {
  const last = image.slice(image.lastIndexOf("/") + 1);
  const [name = "", tag = ""] = last.split(/[:@]/);
  return (name === "docker" ? `${name}-${tag}` : name).split(/[-_.]/).includes("dind");
}

function isReadOnly(container: ValueMap): boolean {
  return mapAt(container, "securityContext")["readOnlyRootFilesystem"] === true;
}

/** Returns the application containers for which `isWanted` is true, with their field paths. */
function named(
  subject: Subject,
  lists: readonly ContainerList[],
  isWanted: (name: string, image: string) => boolean,
): readonly { readonly field: string; readonly name: string }[] {
  return lists.flatMap((list) =>
    containersOf(subject.pod, list).flatMap((container, index) => {
      const name = textAt(container, "name");
      if (!isWanted(name, textAt(container, "image"))) return [];
      return [{ field: podField(subject, `spec.${list}[${index}]`), name }];
    })
  );
}

function portField(subject: Subject, container: string, port: number): Problem["field"] {
  const containers = containersOf(subject.pod, "containers");
  const index = containers.findIndex(({ name }) => name === container);
  const place = mapsAt(containers[index] ?? {}, "ports").findIndex(({ containerPort }) =>
    Number(containerPort) === port
  );
  return podField(subject, `spec.containers[${index}].ports[${place}].containerPort`);
}
