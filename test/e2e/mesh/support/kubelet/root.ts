/** The root of a container: shell lines that build it in the mount namespace of its process. */
import { realEnvoy } from "../../../../support/programs/envoy.ts";
import { CACHE, CHECKOUT } from "../../../../support/programs/cache.ts";
import { MESH_COMMAND, SOURCES } from "../../../../support/programs/mesh.ts";

const envoy = await realEnvoy();

/** Folders of this machine that a container does not share. */
const OWN = ["etc", "proc", "run", "tmp", "var", "old_root", "lost+found"];

/**
 * Folders of `/etc` that a container shares: links to programs, and CA certificates. It copies only the files of the
 * rest.
 */
const SHARED = ["alternatives", "ssl"];

/** The programs of the containers, which may lie in a folder of {@link OWN}. */
const PROGRAMS = [...SOURCES, CHECKOUT, CACHE, Deno.execPath(), MESH_COMMAND, envoy.path];

/** A file or folder of this machine at a path of the container. */
export interface Mount {
  readonly from: string;
  readonly at: string;
  readonly isReadOnly: boolean;
}

/**
 * Builds the root in an empty folder: the programs of this machine, folders of its own for `/etc`, `/run`, `/tmp` and
 * `/var`, and the mounts.
 */
export function rootScript(root: string, mounts: readonly Mount[], isReadOnly: boolean): string {
  const at = (path: string) => quoted(`${root}${path}`);
  const programs = [...new Set(PROGRAMS)].filter((path) => OWN.includes(path.split("/")[1] ?? ""));
  return [
    `mount -t tmpfs -o mode=755 tmpfs ${quoted(root)}`,
    `for entry in /*; do name=\${entry#/}; case " ${OWN.join(" ")} " in *" $name "*) continue;; esac`,
    `  if [ -L "$entry" ]; then cp -a "$entry" ${at("/")}; elif [ -d "$entry" ]; then`,
    `  mkdir ${at("/")}"$name"; mount --rbind "$entry" ${at("/")}"$name"; fi; done`,
    `mkdir -p ${at("/proc")} ${at("/run")} ${at("/var")} ${at("/tmp")}; mount --rbind /proc ${at("/proc")}`,
    `mkdir ${at("/etc")} ${SHARED.map((name) => at(`/etc/${name}`)).join(" ")}; ln -s ../run ${at("/var/run")}`,
    `chmod 1777 ${at("/tmp")}`,
    `(set --; for entry in /etc/*; do [ -d "$entry" ] || set -- "$@" "$entry"; done; cp -a "$@" ${at("/etc")})`,
    ...SHARED.map((name) => `[ ! -d /etc/${name} ] || mount --rbind /etc/${name} ${at(`/etc/${name}`)}`),
    ...programs.map((path) => bind({ from: path, at: path }, at)),
    ...mounts.map((mount) => bind(mount, at)),
    // Last, because the folder of a mount may have to be created inside a read-only mount.
    ...mounts.filter((mount) => mount.isReadOnly).map((mount) => `mount -o remount,bind,ro ${at(mount.at)}`),
    ...(isReadOnly ? [`mount -o remount,ro ${quoted(root)}`] : []),
  ].join("\n");
}

function bind({ from, at: path }: Omit<Mount, "isReadOnly">, at: (path: string) => string): string {
  const [source, target] = [quoted(from), at(path)];
  const parent = at(path.slice(0, path.lastIndexOf("/")));
  // An existing target is left alone: a mount of the checkout may contain it, and a running program cannot be written.
  const made = `if [ -d ${source} ]; then [ -d ${target} ] || mkdir -p ${target}; ` +
    `elif [ ! -e ${target} ]; then [ -d ${parent} ] || mkdir -p ${parent}; : > ${target}; fi`;
  return `${made}; mount --rbind ${source} ${target}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
