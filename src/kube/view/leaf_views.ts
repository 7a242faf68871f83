import { asNil } from "../../golang/go_json.ts";
import { GoInt, GoStruct, type GoValue, MethodStruct } from "../../golang/go_value.ts";
import { parseQuantity, type Quantity, scaledValue } from "../text/quantity.ts";
import { unixSeconds } from "../text/time.ts";

/** The nil slice, which stands for an absent list: empty in a template, `null` in JSON. */
export const NIL_LIST: readonly GoValue[] = asNil(Object.freeze([]));
/** The nil map, which stands for an absent mapping. */
export const NIL_MAP: { readonly [key: string]: GoValue } = Object.freeze(Object.create(null));

/**
 * A Go pointer to a scalar, such as `*int64`. A pointer is true in `if` and prints its target. A nil pointer is false
 * and prints `<nil>`.
 */
export class ScalarPointer extends GoStruct {
  constructor(override readonly goType: string, readonly target: GoValue) {
    super();
  }

  override get isNil(): boolean {
    return this.target === null;
  }

  override get(_name: string): GoValue | undefined {
    return undefined;
  }

  override toJSONValue(): GoValue {
    return this.target;
  }

  override text(): string | undefined {
    if (this.target === null) return undefined;
    return this.target instanceof GoInt ? this.target.value.toString() : String(this.target);
  }
}

/** The view of a struct that Go writes as one value. */
abstract class LeafView<T extends string | number | null> extends MethodStruct {
  constructor(readonly source: T) {
    super();
  }

  override toJSONValue(): GoValue {
    return this.source;
  }

  override text(): string {
    return String(this.source);
  }
}

export class QuantityView extends LeafView<string> {
  override readonly goType = "resource.Quantity";
  protected override readonly members = {
    String: () => this.source,
    Value: () => new GoInt(scaledValue(this.#parsed, 0), "int64"),
    MilliValue: () => new GoInt(scaledValue(this.#parsed, -3), "int64"),
    IsZero: () => this.#parsed.mantissa === 0n,
    Sign: () => this.#parsed.mantissa === 0n ? 0n : this.#parsed.mantissa < 0n ? -1n : 1n,
  };
  readonly #parsed: Quantity = parseQuantity(this.source) ??
    { mantissa: 0n, scale: 0, format: "decimal", keptText: undefined };
}

/** An intstr.IntOrString in a template: a port number or name, a count or percentage. */
export class IntOrStringView extends LeafView<string | number> {
  override readonly goType = "intstr.IntOrString";
  protected override readonly members = {
    Type: () => new GoInt(typeof this.source === "string" ? 1n : 0n, "int64"),
    IntVal: () => new GoInt(typeof this.source === "string" ? 0n : BigInt(this.source), "int32"),
    StrVal: () => typeof this.source === "string" ? this.source : "",
    String: () => this.text(),
    IntValue: () => typeof this.source === "string" ? integerText(this.source) : BigInt(this.source),
  };

  override fieldNames(): readonly string[] {
    return ["Type", "IntVal", "StrVal"];
  }
}

/** A metav1.Time in a template. An absent time (`null`) is the zero time. */
export class TimeView extends LeafView<string | null> {
  override readonly goType = "v1.Time";
  protected override readonly members = {
    IsZero: () => this.source === null,
    Unix: () => new GoInt(this.source === null ? ZERO_TIME_SECONDS : unixSeconds(this.source), "int64"),
    String: () => this.text(),
  };

  override text(): string {
    const [date, time = ""] = (this.source ?? "0001-01-01T00:00:00Z").split("T");
    return `${date} ${time.replace("Z", "")} +0000 UTC`;
  }
}

/** Go's zero time, 1 January of the year 1, in Unix seconds. */
const ZERO_TIME_SECONDS = -62135596800n;

/** Parses an integer as strconv.Atoi does, but returns 0 for an error. */
function integerText(text: string): bigint {
  return /^[+-]?\d+$/.test(text) ? BigInt(text.replace("+", "")) : 0n;
}
