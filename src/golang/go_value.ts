/**
 * What a Go template sees. Go keeps integers and floats apart and JavaScript does not, so the engine has one JavaScript
 * type for each Go kind:
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
 * Go strings are bytes. Here a byte that is no part of valid UTF-8 is the lone surrogate U+DC00 + byte (`bytes.ts`).
 * A pointer to a number or string is the number or string, or `null`.
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

/** A Go map with string keys: JSON-like data is used as it is, without a copy. */
export interface GoMap {
  readonly [key: string]: GoValue;
}

/** An integer of a Go type other than `int`. */
export class GoInt {
  constructor(readonly value: bigint, readonly type: string) {}
}

/**
 * A Go struct (or a pointer to one) as templates may use it: fields by their Go names, methods without arguments as
 * fields that are called; a method with arguments is a field that holds a `GoFunc`. Implementations are lazy views over plain data.
 */
export abstract class GoStruct {
  /** The Go type as error messages and `%T` print it, such as `v1.PodSpec` or `*v1alpha1.ProxyConfig`. */
  abstract readonly goType: string;
  /** The value of a field, the result of a method, or `undefined` where the type has neither. */
  abstract get(name: string): GoValue | undefined;
  /** Go names of the exported fields in declaration order, for `%v`, `%+v` and truth. */
  fieldNames(): readonly string[] {
    return [];
  }
  /** What `encoding/json` would write: fields by their JSON names in declaration order, `omitempty` honoured. */
  abstract toJSONValue(): GoValue;
  /** A nil pointer to a struct: false in `if`, its fields cannot be read (methods may be). */
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

/** A struct whose members are mostly methods: each is called when a template reads it. */
export abstract class MethodStruct extends GoStruct {
  protected abstract readonly members: Readonly<Record<string, (() => GoValue) | undefined>>;

  override get(name: string): GoValue | undefined {
    return Object.hasOwn(this.members, name) ? this.members[name]?.() : undefined;
  }
}

/**
 * A template function: arguments already evaluated. An error thrown ends the render as an error returned in Go does.
 * The engine checks number and types of the arguments before the call and converts number literals, as Go does by
 * reflection.
 */
export interface GoFunc {
  (...args: GoValue[]): GoValue;
  readonly signature: Signature;
  readonly effect: Effect;
}

/**
 * Whether a rendering with such a call may be used again: `none` is a function of its arguments alone, which it does not
 * change; one that `writes` changes its first argument, a map; the result of one that `varies` depends on the clock, on
 * chance or on the process.
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

/** A function without effect, with the signature that the Go one has: `pure(["string", "int"], fn)`. */
export const pure = withEffect("none");
/** A function that changes its first argument. */
export const writing = withEffect("writes");
/** A function whose results vary. */
export const varying = withEffect("varies");

/** Functions by name, as `template.FuncMap`. */
export type FuncMap = Readonly<Record<string, GoFunc>>;

const tags = new WeakMap<object, string>();

/**
 * The same list or map, remembered as being of a Go type such as `[]string` or `map[string]string` instead of
 * `[]interface {}` and `map[string]interface {}`. Decides `%T`, `%#v` and what `index` yields for a missing key.
 * A nil map or slice of a typed Go field is the empty one, tagged.
 */
export function typed<T extends readonly GoValue[] | GoMap>(value: T, goType: string): T {
  tags.set(value, goType);
  return value;
}

/** The Go type given by `typed`, or `undefined`. */
export function typeTag(value: readonly GoValue[] | GoMap): string | undefined {
  return tags.get(value);
}
