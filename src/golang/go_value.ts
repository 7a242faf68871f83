/**
 * The values of a Go template. Go distinguishes integers from floats and JavaScript does not, so the engine has one
 * JavaScript type for each Go kind:
 *
 * | Go                          | here                                                        |
 * |-----------------------------|-------------------------------------------------------------|
 * | nil, untyped                | `null`                                                      |
 * | bool, string                | `boolean`, `string`                                         |
 * | int (literals, `len`, ...)  | `bigint`                                                    |
 * | other sizes of integer      | `GoInt` (`int64` of sprig, `int32` of a struct field, ...)  |
 * | float64 (all JSON numbers)  | `number`                                                    |
 * | []any and []T               | array                                                       |
 * | map[string]any, map[string]T| `GoMap`: a plain object; only its own properties are keys   |
 * | struct, pointer to struct   | `GoStruct`                                                  |
 * | func                        | `GoFunc`                                                    |
 *
 * Go strings are bytes. Here a byte that is not part of valid UTF-8 is the lone surrogate U+DC00 + byte
 * (`go_bytes.ts`). A pointer to a number or string is the number or string, or `null`.
 */
export type GoValue =
  | null
  | boolean
  | string
  | bigint
  | number
  | GoInt
  | GoStruct
  | GoFunc
  | readonly GoValue[]
  | GoMap;

/** A Go map with string keys. JSON-like data is used without a copy. */
export interface GoMap {
  readonly [key: string]: GoValue;
}

/** An integer of a Go type other than `int`. */
export class GoInt {
  constructor(readonly value: bigint, readonly type: string) {}
}

/**
 * A Go struct, or a pointer to one, as templates use it. Fields have their Go names. Reading a method without arguments
 * calls it; a method with arguments is a field that holds a `GoFunc`. Implementations are lazy views over plain data.
 */
export abstract class GoStruct {
  /** The Go type as error messages and `%T` print it, such as `v1.PodSpec` or `*v1alpha1.ProxyConfig`. */
  abstract readonly goType: string;
  /** The value of a field or the result of a method; `undefined` if the type has no member with this name. */
  abstract get(name: string): GoValue | undefined;
  /** Go names of the exported fields in declaration order, for `%v`, `%+v` and conditions. */
  fieldNames(): readonly string[] {
    return [];
  }
  /**
   * The value that `encoding/json` writes: fields by their JSON names in declaration order, with `omitempty` applied.
   */
  abstract toJSONValue(): GoValue;
  /**
   * Whether this is a nil pointer to a struct. A nil pointer is false in `if`. Reading a field of a nil pointer is an
   * error; calling a method may work.
   */
  get isNil(): boolean {
    return false;
  }
  /** The number of a type whose kind is an integer (an enum, a duration), `undefined` for structs. */
  integer(): GoInt | undefined {
    return undefined;
  }
  /** The text of a type with a `String` method (an enum, a Quantity), `undefined` for others. */
  text(): string | undefined {
    return undefined;
  }
}

/** A struct whose members are mostly methods. Reading a method calls it. */
export abstract class MethodStruct extends GoStruct {
  protected abstract readonly members: Readonly<Record<string, (() => GoValue) | undefined>>;

  override get(name: string): GoValue | undefined {
    return Object.hasOwn(this.members, name) ? this.members[name]?.() : undefined;
  }
}

/** Whether a value is nil, or a nil pointer to a struct. */
export function isNil(value: GoValue): boolean {
  return value === null || (value instanceof GoStruct && value.isNil);
}

/**
 * A template function, called with evaluated arguments. A thrown error aborts the render, as a returned error does in
 * Go. The engine checks number and types of the arguments before the call and converts number literals, as Go does by
 * reflection.
 */
export interface GoFunc {
  (...args: GoValue[]): GoValue;
  readonly signature: Signature;
  readonly effect: Effect;
}

/**
 * The effect of a function, which decides whether a rendering may be reused. `none`: the result depends only on the
 * arguments, which stay unchanged. `writes`: the function changes its first argument, a map. `varies`: the result
 * depends on the clock, on randomness or on the process.
 */
export type Effect = "none" | "writes" | "varies";

/** The parameters of a Go function. */
export interface Signature {
  /** Go type texts as `%T` prints them: `string`, `int`, `float64`, `interface {}`, `[]string`, `map[string]interface {}`. */
  readonly params: readonly string[];
  /** The last parameter type may occur any number of times, including none. */
  readonly variadic?: boolean;
}

type Body = (...args: GoValue[]) => GoValue;

const withEffect = (effect: Effect) => (params: readonly string[], body: Body, variadic = false): GoFunc => {
  return Object.assign((...args: GoValue[]) => body(...args), { signature: { params, variadic }, effect });
};

/** Declares a function without effect, with the signature of the Go function: `pure(["string", "int"], fn)`. */
export const pure = withEffect("none");
/** Declares a function that changes its first argument. */
export const writing = withEffect("writes");
/** Declares a function whose results vary between calls with the same arguments. */
export const varying = withEffect("varies");

/** Functions by name, like `template.FuncMap`. */
export type FuncMap = Readonly<Record<string, GoFunc>>;

const tags = new WeakMap<object, string>();

/**
 * Tags a list or map with a Go type such as `[]string` or `map[string]string` and returns it. The default types are
 * `[]interface {}` and `map[string]interface {}`. The tag decides `%T`, `%#v` and the result of `index` for a missing
 * key. A nil map or slice of a typed Go field is represented by an empty map or list with a tag.
 */
export function typed<T extends readonly GoValue[] | GoMap>(value: T, goType: string): T {
  tags.set(value, goType);
  return value;
}

/** The Go type given by `typed`, or `undefined`. */
export function typeTag(value: readonly GoValue[] | GoMap): string | undefined {
  return tags.get(value);
}
