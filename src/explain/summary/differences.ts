/** Finds differences between the injected values and the pod. */
import { parseJson } from "../../base/json.ts";
import { isMap, mapAt, mapsAt, textAt, textsAt, type ValueMap } from "../../base/value.ts";
import type { Difference } from "./pod_summary_schema.ts";

const STATUS = "sidecar.istio.io/status";

/** Returns the differences between the pod and injection's status annotation; `undefined` without the annotation. */
export function differencesOf(pod: ValueMap): Difference[] | undefined {
  const annotations = mapAt(mapAt(pod, "metadata"), "annotations");
  const status = parseJson(textAt(annotations, STATUS));
  if (!isMap(status)) return undefined;
  return [...missing(pod, status), ...notNative(pod, status), ...images(pod), ...revision(pod, status)];
}

const LISTS = ["initContainers", "containers", "volumes"] as const;

/** Returns the items in the annotation that are missing in the pod, or that are in a different list of the pod. */
function missing(pod: ValueMap, status: ValueMap): Difference[] {
  const spec = mapAt(pod, "spec");
  const names = (list: string) => mapsAt(spec, list).map((each) => textAt(each, "name"));
  return LISTS.flatMap((list) =>
    textsAt(status, list).filter((name) => !names(list).includes(name)).map((name) => {
      const other = LISTS.slice(0, 2).find((each) => each !== list && names(each).includes(name));
      const runs = list !== "volumes" && other !== undefined ? `it is in spec.${other}` : "it is not in the pod";
      return { field: `spec.${list}`, wrote: name, runs };
    })
  );
}

/**
 * Returns a difference if another webhook removed `restartPolicy` from the proxy, because the webhook's client library
 * does not know this field of containers (istio/istio#49054).
 */
function notNative(pod: ValueMap, status: ValueMap): Difference[] {
  return mapsAt(mapAt(pod, "spec"), "initContainers").flatMap((container) => {
    const name = textAt(container, "name");
    const isProxy = name === "istio-proxy" && textsAt(status, "initContainers").includes(name);
    if (!isProxy || textAt(container, "restartPolicy") === "Always") return [];
    return [{
      field: `spec.initContainers[${name}].restartPolicy`,
      wrote: "Always",
      runs: "not set, because another webhook removed the field: the pod waits until the proxy exits",
    }];
  });
}

/** Returns `istio-*` containers whose running image differs from the image in the pod's spec. */
function images(pod: ValueMap): Difference[] {
  const status = mapAt(pod, "status");
  const running = [...mapsAt(status, "initContainerStatuses"), ...mapsAt(status, "containerStatuses")];
  const spec = mapAt(pod, "spec");
  return [...mapsAt(spec, "initContainers"), ...mapsAt(spec, "containers")].flatMap((container) => {
    const name = textAt(container, "name");
    if (!name.startsWith("istio-")) return [];
    const image = textAt(running.find((each) => textAt(each, "name") === name) ?? {}, "image");
    const wrote = textAt(container, "image");
    if (image === "" || tagOf(image) === tagOf(wrote) || image.startsWith("sha256:")) return [];
    return [{ field: `spec.containers[${name}].image`, wrote, runs: image }];
  });
}

/** Returns the name and tag of an image without the registry, which container runtimes add. */
function tagOf(image: string): string {
  return image.slice(image.lastIndexOf("/") + 1).split("@", 1)[0] ?? "";
}

function revision(pod: ValueMap, status: ValueMap): Difference[] {
  const wrote = textAt(status, "revision");
  const label = textAt(mapAt(mapAt(pod, "metadata"), "labels"), "istio.io/rev");
  if (wrote === "" || label === "" || wrote === label) return [];
  return [{ field: 'metadata.labels["istio.io/rev"]', wrote, runs: label }];
}
