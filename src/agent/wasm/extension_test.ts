import assert from "node:assert/strict";
import { BinaryWriter, putInteger, putMessage, putString } from "../../base/protobuf.ts";
import { remoteModule, withFile, withoutModule } from "./extension.ts";

const FILTERS = "type.googleapis.com/envoy.extensions.filters";
const SECRET = "ISTIO_META_WASM_IMAGE_PULL_SECRET";

interface Given {
  readonly policy?: number;
  readonly type?: string;
  readonly variables?: Readonly<Record<string, string>>;
}

function extension({ policy = 0, type = `${FILTERS}.http.wasm.v3.Wasm`, variables = {} }: Given = {}): Uint8Array {
  const wasm = new BinaryWriter();
  putMessage(wasm, 1, (plugin) => {
    putString(plugin, 1, "auth");
    putMessage(plugin, 3, (vm) => {
      putString(vm, 2, "envoy.wasm.runtime.v8");
      putMessage(vm, 3, (code) =>
        putMessage(code, 2, (remote) => {
          putMessage(remote, 1, (uri) => {
            putString(uri, 1, "oci://example.org/auth:1");
            putMessage(uri, 3, (timeout) => putInteger(timeout, 1, 30));
          });
          putString(remote, 2, "nil");
        }));
      putMessage(vm, 7, (environment) => {
        for (const [key, value] of Object.entries(variables)) {
          putMessage(environment, 2, (entry) => {
            putString(entry, 1, key);
            putString(entry, 2, value);
          });
        }
      });
    });
    putInteger(plugin, 7, policy);
  });
  const whole = new BinaryWriter();
  putString(whole, 1, "shop.auth");
  putMessage(whole, 2, (any) => {
    putString(any, 1, type);
    any.tag(2, 2).bytes(wasm.finish());
  });
  return whole.finish();
}

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

Deno.test("remoteModule: what istiod says about a module", () => {
  const variables = { [SECRET]: "{}", ISTIO_META_WASM_IMAGE_PULL_POLICY: "Always" };
  assert.deepEqual(remoteModule(extension({ variables })), {
    source: {
      url: "oci://example.org/auth:1",
      sha256: "",
      resource: "shop.auth",
      version: "",
      policy: "Always",
      pullSecret: "{}",
      timeout: 30_000,
    },
    isFailOpen: false,
    isHttp: true,
  });
  assert.equal(remoteModule(extension({ type: `${FILTERS}.http.router.v3.Router` })), undefined);
});

Deno.test("remoteModule: only FAIL_OPEN is open", () => {
  const open = [0, 1, 2, 3].map((policy) => remoteModule(extension({ policy }))?.isFailOpen);
  assert.deepEqual(open, [false, false, false, true]);
});

Deno.test("withFile: the module is local, and Istio's variables are gone", async () => {
  const given = extension({ variables: { [SECRET]: "hidden", MODE: "strict" } });
  const changed = await withFile(given, "/var/lib/istio/data/wasm/a.wasm");
  assert.equal(remoteModule(changed), undefined);
  assert.match(text(changed), /\/var\/lib\/istio\/data\/wasm\/a\.wasm/);
  assert.match(text(changed), /envoy\.wasm\.runtime\.v8.*MODE/s);
  assert.doesNotMatch(text(changed), /hidden|ISTIO_META|oci:/);
});

Deno.test("withoutModule: a filter that lets all requests pass, or none", async () => {
  for (const [policy, name] of [[2, "deny"], [3, "allow"]] as const) {
    const module = remoteModule(extension({ policy }));
    assert.ok(module !== undefined);
    const changed = text(await withoutModule(extension({ policy }), module));
    assert.match(changed, new RegExp(`http\\.rbac\\.v3\\.RBAC.*wasm-default-${name}`, "s"));
    assert.doesNotMatch(changed, /oci:/);
  }
});
