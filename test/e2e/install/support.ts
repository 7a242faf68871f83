/** Releases for the tests of this folder. */
import { PLATFORMS, thisPlatform } from "../../../tools/compile/platforms.ts";
import { document, type Release } from "../../../tools/release/release.ts";
import { MESH_BINARY, MESH_COMMAND } from "../../support/programs/mesh.ts";

/** The program under test as a file of its own: the binary, or a script that starts the launcher of the checkout. */
export async function program(): Promise<Uint8Array<ArrayBuffer>> {
  if (MESH_BINARY !== undefined) return await Deno.readFile(MESH_COMMAND);
  return script(`exec '${MESH_COMMAND}' "$@"`);
}

/** A script as a program. */
export function script(line: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`#!/bin/sh\n${line}\n`);
}

/** A release of a program for this machine; the other platforms have scripts. */
export function releaseOf(version: string, homepage: string, content: Uint8Array<ArrayBuffer>): Release {
  const own = thisPlatform();
  return {
    version,
    source: { commit: "", seconds: 1_700_000_000 },
    homepage,
    binaries: PLATFORMS.map((platform) => ({ platform, content: platform === own ? content : script("exit 1") })),
    documents: [
      document("LICENSE", "licence\n"),
      document("README.md", "read me\n"),
      document("THIRD_PARTY_LICENSES", "theirs\n"),
    ],
  };
}
