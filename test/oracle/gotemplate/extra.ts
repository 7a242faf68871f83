import {
  type FuncMap,
  GoInt,
  GoStruct,
  type GoValue,
  pure,
  sprintf,
  typed,
} from "../../../src/golang/gotemplate/mod.ts";

/** The functions that main.go in this folder adds to sprig's, to test the engine itself. */
export const extra: FuncMap = {
  tInt: pure(["int"], (n) => n ?? null),
  tInt64: pure(["int64"], (n) => n ?? null),
  tUint8: pure(["uint8"], (n) => n ?? null),
  tFloat: pure(["float64"], (n) => n ?? null),
  tString: pure(["string"], (s) => s ?? null),
  tBool: pure(["bool"], (b) => b ?? null),
  tAny: pure(["interface {}"], (v) => v ?? null),
  tMap: pure(["map[string]interface {}"], (m) => BigInt(Object.keys(Object(m)).length)),
  tList: pure(["[]interface {}"], (l) => BigInt(Array.isArray(l) ? l.length : 0)),
  tMany: pure(["string", "int"], (s, ...n) => sprintf("%s%v", [s ?? null, n]), true),
  tFail: pure(["string"], (s) => {
    throw new Error(`failed: ${s}`);
  }),
  tNil: pure([], () => null),
  tFunc: pure([], () => pure(["int", "int"], (a, b) => BigInt(Number(a) + Number(b)))),
};

/** A Go struct from structs.go: its fields, and its methods as functions. */
class View extends GoStruct {
  constructor(
    readonly goType: string,
    readonly fields: Readonly<Record<string, GoValue>>,
    readonly methods: Readonly<Record<string, GoValue>> = {},
    readonly shown?: string,
  ) {
    super();
  }
  override get(name: string): GoValue | undefined {
    return this.methods[name] ?? this.fields[name];
  }
  override fieldNames(): readonly string[] {
    return Object.keys(this.fields);
  }
  override toJSONValue(): GoValue {
    return this.fields;
  }
  override get isNil(): boolean {
    return this.shown === "<nil>";
  }
  override text(): string | undefined {
    return this.goType === "main.Mode" ? this.shown : undefined;
  }
}

const portFields = {
  Name: "http",
  Number: new GoInt(8080n, "int32"),
  Big: new GoInt(18446744073709551615n, "uint64"),
  Priority: new GoInt(-1n, "int8"),
};
const portMethods = (text: string) => ({ Safe: pure([], () => text) });
const grpc = {
  Name: "grpc",
  Number: new GoInt(9090n, "int32"),
  Big: new GoInt(1n, "uint64"),
  Priority: new GoInt(2n, "int8"),
};

const pod = new View("*main.Pod", {
  Name: "web",
  Labels: typed({ app: "web", b: "" }, "map[string]string"),
  Empty: typed({}, "map[string]string"),
  Args: typed(["x", "y"], "[]string"),
  Ports: typed([new View("main.Port", portFields), new View("main.Port", grpc)], "[]main.Port"),
  First: new View("*main.Port", portFields, portMethods("http")),
  None: new View("*main.Port", portFields, portMethods("nil"), "<nil>"),
  Replicas: new GoInt(3n, "int64"),
  Mode: new View("main.Mode", {}, {}, "TPROXY"),
  Any: null,
  Ready: true,
}, {
  Hello: pure([], () => "hello web"),
  Join: pure(["string", "int"], (a, n) => sprintf("%s%s%d", ["web", a ?? null, n ?? null])),
  Fail: pure([], () => {
    throw new Error("no luck");
  }),
});

/** The Go values that the field `go` of a request may name. */
export const values: Readonly<Record<string, GoValue>> = {
  pod,
  nil: null,
  list: typed(["a", "b"], "[]string"),
  ints: {
    i: 1n,
    i64: new GoInt(2n, "int64"),
    u8: new GoInt(3n, "uint8"),
    u64: new GoInt(1n << 63n, "uint64"),
    i8: new GoInt(-4n, "int8"),
  },
};
