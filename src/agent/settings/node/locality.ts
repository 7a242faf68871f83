/** Where the pod says that it runs. Source: Istio's model.GetLocalityLabel and SplitLocalityLabel. */
import type { Locality } from "../settings.ts";

/** The label that the control plane reads; Kubernetes' labels have no `/`, so that `.` stands for it. */
export const ISTIO_LOCALITY = "istio-locality";
const TOPOLOGY_LOCALITY = "topology.istio.io/locality";

/** `region/zone/subzone` of the labels of a pod; `""` if they do not say. */
export function localityText(labels: ReadonlyMap<string, string>): string {
  const label = labels.get(TOPOLOGY_LOCALITY) ?? labels.get(ISTIO_LOCALITY) ?? "";
  return label.includes("/") ? label : label.replaceAll(".", "/");
}

/** The parts of such a text. */
export function splitLocality(text: string): Locality {
  const [region = "", zone = "", subZone = ""] = text.split("/");
  return { region, zone, subZone };
}
