/**
 * The contents and start commands of the images. `image/Containerfile` defines the same images for container engines.
 */

/** A program in an image: a build of `tools/deno task compile`, or Envoy. */
export type Program = "mesh-agent" | "kubectl-mesh" | "envoy";

/** An image. */
export interface Image {
  readonly title: string;
  /** All Debian packages of the image. Their dependencies are not added automatically. */
  readonly packages: readonly string[];
  /** Programs, by path in the image. */
  readonly programs: Readonly<Record<string, Program>>;
  /** Targets of symbolic links, by path in the image. */
  readonly links: Readonly<Record<string, string>>;
  /** Folders that the image's user may write to. */
  readonly writable: readonly string[];
  /** `UID:GID`. */
  readonly user: string;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
}

/** glibc, the compiler's runtime library with its licence, and the certificates of public authorities. */
const BASE = ["libc6", "libgcc-s1", "gcc-12-base"];
const AUTHORITIES = "ca-certificates";
const BIN = "usr/local/bin";

/** Names by which a pod may start the program. */
const NAMES = { [`${BIN}/kubectl-mesh`]: "pilot-agent", ...istioNames("pilot-agent") };

function istioNames(target: string): Record<string, string> {
  const names = ["istio-iptables", "istio-iptables.sh", "istio-clean-iptables"];
  return Object.fromEntries(names.map((name) => [`${BIN}/${name}`, target]));
}

/** iptables for both back ends, and nft for --native-nftables. */
const IPTABLES = [
  ...["iptables", "libxtables12", "libip4tc2", "libip6tc2", "libmnl0", "libnftnl11"],
  ...["nftables", "libnftables1", "libjansson4", "libgmp10", "libedit2", "libbsd0", "libmd0", "libtinfo6"],
];

/** The images by name. */
export const IMAGES = {
  proxy: {
    title: "Envoy and the agent of a pod in an Istio mesh",
    packages: [...BASE, AUTHORITIES],
    programs: { [`${BIN}/pilot-agent`]: "mesh-agent", [`${BIN}/envoy`]: "envoy" },
    links: NAMES,
    writable: ["etc/istio/proxy", "var/lib/istio/data"],
    user: "1337:1337",
    entrypoint: [`/${BIN}/pilot-agent`],
    command: [],
  },
  init: {
    title: "Captures the traffic of a pod in an Istio mesh",
    packages: [...BASE, ...IPTABLES],
    programs: { [`${BIN}/pilot-agent`]: "mesh-agent" },
    links: NAMES,
    writable: [],
    user: "0:0",
    entrypoint: [`/${BIN}/pilot-agent`],
    command: [],
  },
  webhook: {
    title: "kubectl-mesh: the injection webhook, and all commands that need no other program",
    packages: [...BASE, AUTHORITIES],
    programs: { [`${BIN}/kubectl-mesh`]: "kubectl-mesh" },
    links: {},
    writable: [],
    user: "65532:65532",
    entrypoint: [`/${BIN}/kubectl-mesh`],
    command: ["--help"],
  },
} as const satisfies Record<string, Image>;

/** The environment of every image. */
export const ENVIRONMENT = ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"];

/** Small files that every image contains. */
export const FILES: Readonly<Record<string, string>> = {
  "etc/passwd": "root:x:0:0:root:/root:/sbin/nologin\n" +
    "istio-proxy:x:1337:1337:istio-proxy:/:/sbin/nologin\n" +
    "nobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin\n" +
    "nonroot:x:65532:65532:nonroot:/:/sbin/nologin\n",
  "etc/group": "root:x:0:\nistio-proxy:x:1337:\nnogroup:x:65534:\nnonroot:x:65532:\n",
  "etc/nsswitch.conf": "hosts: files dns\n",
};
