/** Downloads kubectl from Debian 12, the oldest version that does not take minutes to build. */
import { mustRun } from "../../../tools/compile/run.ts";
import { CACHE, makeOnce } from "./cache.ts";

/** Downloads and unpacks kubectl 1.20; `missing` is the reason if this fails. */
export async function oldKubectl(): Promise<{ readonly path: string; readonly missing?: string }> {
  const path = `${CACHE}/programs/kubectl-1.20`;
  try {
    return { path: await makeOnce(path, unpack) };
  } catch (error) {
    return { path, missing: `no kubectl 1.20 of Debian: ${String(error).trim().split("\n").at(-1)}` };
  }
}

const SCRIPT = `set -e
cd "$1"
version=$(apt-cache madison kubernetes-client | grep -o '[^ ]*really1\\.20[^ ]*' | head -n 1)
apt-get download -q "kubernetes-client=$version"
dpkg-deb --fsys-tarfile *.deb | tar -x ./usr/bin/kubectl
mv usr/bin/kubectl "$2"`;

async function unpack(file: string): Promise<void> {
  const folder = await Deno.makeTempDir({ dir: file.replace(/\/[^/]*$/, ""), prefix: "kubectl-" });
  try {
    await mustRun(["sh", "-c", SCRIPT, "sh", folder, file]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
