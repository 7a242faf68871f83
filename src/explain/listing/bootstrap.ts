import { mapAt, textAt } from "../../base/value.ts";
import { nodeOf } from "../envoy/config.ts";
import { numberAt } from "../envoy/message.ts";
import type { Listing, ListingSource } from "./listing.ts";

/** Lists the versions in the bootstrap configuration. */
export function bootstrap({ config }: ListingSource): Listing {
  const section = config.section("BootstrapConfigDump");
  const node = nodeOf(config);
  const [metadata, build] = [mapAt(node, "metadata"), mapAt(node, "user_agent_build_version")];
  const [version, labels] = [mapAt(build, "version"), mapAt(build, "metadata")];
  const number = ["major_number", "minor_number", "patch"].map((key) => numberAt(version, key) ?? 0).join(".");
  const label = textAt(labels, "build.label");
  const details = ["revision.status", "build.type", "ssl.version"].map((key) => textAt(labels, key));
  const rows = [
    ["Istio Version:", textAt(metadata, "ISTIO_VERSION")],
    ["Istio Proxy Version:", textAt(metadata, "ISTIO_PROXY_SHA").replace(/^[^:]*:/, "")],
    [
      "Envoy Version:",
      [label === "" ? number : `${number}-${label}`, ...details].filter((text) => text !== "").join("/"),
    ],
  ];
  return { rows: rows.filter(([, text]) => text !== ""), messages: section };
}
