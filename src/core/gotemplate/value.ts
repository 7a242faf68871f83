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
 * | map[string]any, map[string]T| `GoMap`: a `Map`, or a plain object without a prototype      |
 * | struct, pointer to struct   | `GoStruct`                                                  |
 * | func                        | `GoFunc`                                                    |
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
 * fields that are called. Implementations are lazy views over plain data.
 */
export abstract class GoStruct {
  /** The Go type as error messages and `%T` print it, such as `v1.PodSpec` or `*v1alpha1.ProxyConfig`. */
  abstract readonly goType: string;
  /** The value of a field, the result of a method, or `undefined` where the type has neither. */
  abstract get(name: string): GoValue | undefined;
  /** Go names of the exported fields in declaration order, for `%v`, `%+v` and truth. */
  abstract fieldNames(): readonly string[];
  /** What `encoding/json` would write: fields by their JSON names in declaration order, `omitempty` honoured. */
  abstract toJSONValue(): GoValue;
  /** A nil pointer to a struct: false in `if`, its fields cannot be read (methods may be). */
  get isNil(): boolean {
    return false;
  }
  /** The text of a type with a `String` method (an enum, a Quantity), `undefined` for others. */
  text(): string | undefined {
    return undefined;
  }
}

/** A template function: arguments already evaluated. An error thrown ends the render as an error returned in Go does. */
export type GoFunc = (...args: GoValue[]) => GoValue;

/** Functions by name, as `template.FuncMap`. */
export type FuncMap = Readonly<Record<string, GoFunc>>;
