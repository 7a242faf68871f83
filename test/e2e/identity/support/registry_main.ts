/** A web server and registry of images as a program: it serves the file of its first argument. */
import { createHash } from "node:crypto";

const [file = "", user = ""] = Deno.args;
const module = await Deno.readFile(file);
const sha256 = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");
const manifest = JSON.stringify({
  schemaVersion: 2,
  mediaType: "application/vnd.oci.image.manifest.v1+json",
  layers: [
    { mediaType: "application/vnd.module.wasm.config.v1+json", digest: `sha256:${sha256("{}")}`, size: 2 },
    {
      mediaType: "application/vnd.module.wasm.content.layer.v1+wasm",
      digest: `sha256:${sha256(module)}`,
      size: module.length,
    },
  ],
});

const PAGES: Readonly<Record<string, BodyInit>> = {
  "/module.wasm": module,
  "/text.wasm": "no module",
  "/v2/team/module/manifests/latest": manifest,
  [`/v2/team/module/blobs/sha256:${sha256(module)}`]: module,
};

/** Images are for one user, files are for all. */
function serve(request: Request): Response {
  const { pathname } = new URL(request.url);
  const isAllowed = !pathname.startsWith("/v2/") || request.headers.get("authorization") === `Basic ${btoa(user)}`;
  if (!isAllowed) return new Response("", { status: 401, headers: { "www-authenticate": 'Basic realm="test"' } });
  const page = PAGES[pathname];
  return page === undefined ? new Response("", { status: 404 }) : new Response(page);
}

Deno.serve({
  hostname: "0.0.0.0",
  port: 5000,
  onListen: () => void Deno.stdout.write(new TextEncoder().encode("started\n")),
}, serve);
