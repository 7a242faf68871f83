/** Builds the injection code of old Istio releases as programs, each from its tag in a clone of istio/istio. */
import { mustRun } from "../../../tools/compile/run.ts";
import { replaceModules } from "../../versions/istio_build.ts";
import { archived } from "../../versions/repository.ts";
import type { Later } from "./later_cases.ts";
import type { Release } from "./cases.ts";

interface Build {
  readonly tag: string;
  /** The name of its source file in the folder `program`. */
  readonly file: string;
}

export const BUILDS: Readonly<Record<Release | Later, Build>> = {
  "1.1": { tag: "1.1.0", file: "release_1_1.go" },
  "1.8": { tag: "1.8.0", file: "release_1_8.go" },
  "1.12": { tag: "1.12.9", file: "release_1_12.go" },
  "1.16": { tag: "1.16.7", file: "release_1_16.go" },
  "1.22": { tag: "1.22.8", file: "release_1_16.go" },
  "1.26": { tag: "1.26.8", file: "release_1_16.go" },
};

/** Large files that the build does not need and that copies of the repository may lack. */
const WITHOUT = [
  "pkg/test/fakes",
  "vendor/golang.org/x/text/collate/tables.go",
  "vendor/k8s.io/kubernetes/Godeps",
];
/** A module that 1.8 requires and whose host no longer exists. */
const MOVED = "vbom.ml/util=github.com/fvbommel/util@v0.0.0-20180919145318-efcd4e0f9787";

const PROGRAM = new URL("program/", import.meta.url);
const FLAGS = ["-ldflags=-checklinkname=0"];

/** Builds the program for a release at this path, which takes minutes. */
export async function buildLegacy(repository: string, { tag, file }: Build, program: string): Promise<void> {
  await using source = await archived(repository, tag, [".", ...WITHOUT.map((path) => `:(exclude)${path}`)]);
  const isOld = tag.startsWith("1.1.");
  const inject = isOld ? "pilot/pkg/kube/inject" : "pkg/kube/inject";
  for (const each of ["loop.go", file]) {
    await Deno.copyFile(new URL(each, PROGRAM), `${source.folder}/${inject}/oracle_${each}`);
  }
  await Deno.mkdir(`${source.folder}/mesh-oracle`);
  const main = `package main\n\nimport "istio.io/istio/${inject}"\n\nfunc main() { inject.OracleMain() }\n`;
  await Deno.writeTextFile(`${source.folder}/mesh-oracle/main.go`, main);
  if (isOld) return await buildInPath(source.folder, program);
  await replaceModules(source.folder, tag);
  if (tag.startsWith("1.8.")) await mustRun(["go", "-C", source.folder, "mod", "edit", `-replace=${MOVED}`]);
  const args = ["-C", source.folder, "build", "-mod=mod", ...FLAGS, "-o", program, "./mesh-oracle"];
  await mustRun(["nice", "-n", "10", "go", ...args]);
}

/** Releases without Go modules are built in a GOPATH. */
async function buildInPath(folder: string, program: string): Promise<void> {
  const path = `${folder}/gopath`;
  const below = `${path}/src/istio.io/istio`;
  await Deno.mkdir(below, { recursive: true });
  for await (const { name } of Deno.readDir(folder)) {
    if (name !== "gopath") await Deno.rename(`${folder}/${name}`, `${below}/${name}`);
  }
  const env = ["env", "GO111MODULE=off", `GOPATH=${path}`];
  await mustRun(["nice", "-n", "10", ...env, "go", "-C", below, "build", ...FLAGS, "-o", program, "./mesh-oracle"]);
}
