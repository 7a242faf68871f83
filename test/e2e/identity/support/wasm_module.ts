/** A Wasm module for Envoy (proxy-wasm 0.2.1): it adds the header `x-wasm` to each response. Written by hand. */

const I32 = 0x7f;

function vector(items: readonly (readonly number[])[]): number[] {
  return [...leb(items.length), ...items.flat()];
}

/** An integer, unsigned LEB128. */
function leb(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...leb(value >> 7)];
}

function name(text: string): number[] {
  return vector([...new TextEncoder().encode(text)].map((byte) => [byte]));
}

function section(id: number, content: readonly number[]): number[] {
  return [id, ...leb(content.length), ...content];
}

function type(parameters: number, results: number): number[] {
  return [0x60, ...vector(Array(parameters).fill([I32])), ...vector(Array(results).fill([I32]))];
}

function body(...code: number[]): number[] {
  const content = [0, ...code, 0x0b];
  return [...leb(content.length), ...content];
}

/** `i32.const`, for values below 64 or from 128 on below 8192. */
function constant(value: number): number[] {
  return value < 64 ? [0x41, value] : [0x41, (value & 127) | 128, value >> 7];
}

const HEADER = "x-wasm";
const [KEY_AT, VALUE_AT, FREE_AT] = [1024, 1040, 4096];
const RESPONSE_HEADERS = 2;
/** Functions: 0 is imported. */
const [START, ALLOCATE, CREATE, CONFIGURE, HEADERS] = [1, 2, 3, 4, 5];

/** The module; its header has this value. */
export function wasmModule(value = "yes"): Uint8Array<ArrayBuffer> {
  const add = [
    ...constant(RESPONSE_HEADERS),
    ...constant(KEY_AT),
    ...constant(HEADER.length),
    ...constant(VALUE_AT),
    ...constant(value.length),
    ...[0x10, 0],
  ];
  const text = [...new TextEncoder().encode(`${HEADER}${" ".repeat(VALUE_AT - KEY_AT - HEADER.length)}${value}`)];
  const exported = (label: string, index: number) => [...name(label), 0, ...leb(index)];
  return new Uint8Array([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, vector([type(5, 1), type(0, 0), type(1, 1), type(2, 0), type(2, 1), type(3, 1)])),
    ...section(2, vector([[...name("env"), ...name("proxy_add_header_map_value"), 0, 0]])),
    ...section(3, vector([[1], [2], [3], [4], [5]])),
    ...section(5, vector([[0, 1]])),
    ...section(
      7,
      vector([
        [...name("memory"), 2, 0],
        exported("proxy_abi_version_0_2_1", START),
        exported("_initialize", START),
        exported("proxy_on_memory_allocate", ALLOCATE),
        exported("proxy_on_context_create", CREATE),
        exported("proxy_on_vm_start", CONFIGURE),
        exported("proxy_on_configure", CONFIGURE),
        exported("proxy_on_response_headers", HEADERS),
      ]),
    ),
    ...section(
      10,
      vector([body(), body(...constant(FREE_AT)), body(), body(...constant(1)), body(...add, 0x1a, ...constant(0))]),
    ),
    ...section(11, vector([[0, ...constant(KEY_AT), 0x0b, ...vector(text.map((byte) => [byte]))]])),
  ]);
}
