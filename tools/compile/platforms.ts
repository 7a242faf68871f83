/** A platform to compile for, and the source of its Deno runtime. */
export interface Platform {
  /** The part of the file name after `kubectl-mesh-`. */
  readonly name: string;
  /** Rust's target triple, for `deno compile --target`. */
  readonly target: string;
  readonly extension: "" | ".exe";
  /** The format of executables on this platform. */
  readonly format: "elf" | "macho" | "pe";
  /** The platform tag of the wheel, for `pip download`. */
  readonly wheel: string;
  /** SHA-256 of the runtime in the wheel. */
  readonly sha256: string;
}

/** The Deno version of the runtimes in {@link PLATFORMS}. */
export const RUNTIME_VERSION = "2.6.10";

/** A program on PyPI that was compiled with Deno 2.6.10: its executable begins with the runtime. */
export const WHEEL = { name: "bids-validator-deno", version: "2.4.1", file: "bids-validator-deno" } as const;

export const PLATFORMS: readonly Platform[] = [
  {
    name: "linux-amd64",
    target: "x86_64-unknown-linux-gnu",
    extension: "",
    format: "elf",
    wheel: "manylinux_2_27_x86_64",
    sha256: "1b136202dc147212ad0b129de0c10eb5f17060917c9754c7921cd68f764ad2e2",
  },
  {
    name: "linux-arm64",
    target: "aarch64-unknown-linux-gnu",
    extension: "",
    format: "elf",
    wheel: "manylinux_2_27_aarch64",
    sha256: "ee39b54b2f465eae3f1dd3d79495e1ef957fae69ff4f6ad118499986b714d494",
  },
  {
    name: "darwin-amd64",
    target: "x86_64-apple-darwin",
    extension: "",
    format: "macho",
    wheel: "macosx_10_12_x86_64",
    sha256: "744066ecba01153b318f3259ef04dbbe6ed8d84ecbcdd3b8833c57ca0071b352",
  },
  {
    name: "darwin-arm64",
    target: "aarch64-apple-darwin",
    extension: "",
    format: "macho",
    wheel: "macosx_11_0_arm64",
    sha256: "1878da5f3460956a9320083b3072111d7a680abbc1f3838f8d80b5d88d9d3026",
  },
  {
    name: "windows-amd64",
    target: "x86_64-pc-windows-msvc",
    extension: ".exe",
    format: "pe",
    wheel: "win_amd64",
    sha256: "5aaf98c6631b2458d580fcc9c753bb6a565bc03f9a611ebe9033531377a2ab92",
  },
];

/** Returns the platform of this machine. Throws if it is unknown. */
export function thisPlatform(): Platform {
  const found = PLATFORMS.find((each) => each.target === Deno.build.target);
  if (found === undefined) throw new Error(`Cannot compile for "${Deno.build.target}": no such platform is known`);
  return found;
}
