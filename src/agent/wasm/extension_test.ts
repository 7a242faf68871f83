import assert from "node:assert/strict";
import {
  BinaryWriter,
  putInteger,
  putMessage,
  putString,
  readMessage,
  readStruct,
  writeStruct,
} from "../../base/protobuf.ts";
import type { ValueMap } from "../../base/value.ts";
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

const STRUCTS = ["udpa.type.v1", "xds.type.v3"].map((each) => `type.googleapis.com/${each}.TypedStruct`);

/** The same as a TypedStruct of this type. */
function structExtension(
  plugin: ValueMap,
  struct = STRUCTS[0] ?? "",
  type = `${FILTERS}.http.wasm.v3.Wasm`,
): Uint8Array {
  const whole = new BinaryWriter();
  putString(whole, 1, "shop.auth");
  putMessage(whole, 2, (any) => {
    putString(any, 1, struct);
    putMessage(any, 2, (typed) => {
      putString(typed, 1, type);
      putMessage(typed, 2, (value) => writeStruct(value, { config: plugin }));
    });
  });
  return whole.finish();
}

/** The message in a TypedStruct. */
function structOf(extension: Uint8Array): ValueMap {
  let value = new Uint8Array();
  readMessage(extension, {
    2: (any) =>
      readMessage(any.bytes(), {
        2: (typed) => readMessage(typed.bytes(), { 2: (reader) => value = new Uint8Array(reader.bytes()) }),
      }),
  });
  return readStruct(value);
}

const REMOTE = { http_uri: { uri: "oci://example.org/auth:1", timeout: "1.5s" }, sha256: "nil" };

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

Deno.test("remoteModule: reads the module that istiod describes", () => {
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

Deno.test("remoteModule: only FAIL_OPEN fails open", () => {
  const open = [0, 1, 2, 3].map((policy) => remoteModule(extension({ policy }))?.isFailOpen);
  assert.deepEqual(open, [false, false, false, true]);
});

Deno.test("withFile: the module is a local file, and Istio's variables are removed", async () => {
  const given = extension({ variables: { [SECRET]: "hidden", MODE: "strict" } });
  const changed = await withFile(given, "/var/lib/istio/data/wasm/a.wasm");
  assert.equal(remoteModule(changed), undefined);
  assert.match(text(changed), /\/var\/lib\/istio\/data\/wasm\/a\.wasm/);
  assert.match(text(changed), /envoy\.wasm\.runtime\.v8.*MODE/s);
  assert.doesNotMatch(text(changed), /hidden|ISTIO_META|oci:/);
});

Deno.test("withoutModule: a filter that allows or rejects all requests", async () => {
  for (const [policy, name] of [[2, "deny"], [3, "allow"]] as const) {
    const module = remoteModule(extension({ policy }));
    assert.ok(module !== undefined);
    const changed = text(await withoutModule(extension({ policy }), module));
    assert.match(changed, new RegExp(`http\\.rbac\\.v3\\.RBAC.*wasm-default-${name}`, "s"));
    assert.doesNotMatch(changed, /oci:/);
  }
});

Deno.test("remoteModule: the same from a TypedStruct, with names in snake or camel case", () => {
  const key_values = { [SECRET]: "{}", ISTIO_META_WASM_IMAGE_PULL_POLICY: "Always" };
  const snake = {
    vm_config: { code: { remote: REMOTE }, environment_variables: { key_values } },
    failure_policy: "FAIL_OPEN",
  };
  const camel = {
    vmConfig: {
      code: { remote: { httpUri: REMOTE.http_uri } },
      environmentVariables: { keyValues: key_values },
    },
    failurePolicy: 3,
  };
  const source = {
    url: "oci://example.org/auth:1",
    sha256: "",
    resource: "shop.auth",
    version: "",
    policy: "Always",
    pullSecret: "{}",
    timeout: 1500,
  };
  for (const struct of STRUCTS) {
    for (const plugin of [snake, camel]) {
      assert.deepEqual(remoteModule(structExtension(plugin, struct)), { source, isFailOpen: true, isHttp: true });
    }
  }
  const network = remoteModule(structExtension(snake, STRUCTS[0], `${FILTERS}.network.wasm.v3.Wasm`));
  assert.equal(network?.isHttp, false);
  const local = { vm_config: { code: { local: { filename: "/a.wasm" } } } };
  assert.equal(remoteModule(structExtension(local)), undefined);
  assert.equal(remoteModule(structExtension(snake, STRUCTS[0], `${FILTERS}.http.router.v3.Router`)), undefined);
  const policies = ["UNSPECIFIED", "FAIL_RELOAD", "FAIL_CLOSED", "FAIL_OPEN"].map((failure_policy) =>
    remoteModule(structExtension({ ...snake, failure_policy, fail_open: true }))?.isFailOpen
  );
  assert.deepEqual(policies, [true, false, false, true]);
});

Deno.test("withFile: a TypedStruct stays a TypedStruct, and Istio's variables are removed", async () => {
  const plugin = (key_values: ValueMap, more: ValueMap): ValueMap => ({
    name: "auth",
    vm_config: { runtime: "v8", code: { remote: REMOTE }, environment_variables: { key_values, ...more } },
    configuration: { "@type": "type.googleapis.com/google.protobuf.StringValue", value: "hello" },
  });
  const given = structExtension(plugin({ [SECRET]: "hidden", MODE: "strict" }, { host_env_keys: ["HOME"] }));
  const changed = await withFile(given, "/a.wasm");
  assert.doesNotMatch(text(changed), /hidden|ISTIO_META|oci:/);
  const expected = JSON.stringify({ config: plugin({ MODE: "strict" }, { host_env_keys: ["HOME"] }) });
  const local = '"code":{"local":{"filename":"/a.wasm"}}';
  assert.equal(JSON.stringify(structOf(changed)), expected.replace(/"code":.*"nil"\}\}/, local));
  const emptied = await withFile(structExtension(plugin({ [SECRET]: "hidden" }, {})), "/a.wasm");
  assert.equal(
    JSON.stringify(structOf(emptied)).includes("environment_variables"),
    false,
    "no variables are left, and no message for them",
  );
});

Deno.test("withoutModule: a TypedStruct becomes a filter too", async () => {
  const given = structExtension({ vm_config: { code: { remote: REMOTE } } });
  const module = remoteModule(given);
  assert.ok(module !== undefined);
  assert.match(text(await withoutModule(given, module)), /http\.rbac\.v3\.RBAC.*wasm-default-deny/s);
});
