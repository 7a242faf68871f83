import { formatDuration } from "../../golang/duration.ts";
import { GoInt, type GoValue, MethodStruct } from "../../golang/go_value.ts";
import type { Value } from "../../base/value.ts";
import { zeroScalar } from "../decode/decode_single.ts";
import { durationText, nanosecondsOf } from "../decode/duration_text.ts";
import { enumType, type Scalar } from "../schema/schema.ts";

const SECOND = 1_000_000_000n;

/** A scalar as a Go value. 32-bit and 64-bit integers keep their Go type. */
export function scalarView(value: Value | undefined, type: Scalar): GoValue {
  const present = value ?? zeroScalar(type);
  if (type === "string" || type === "bool") return typeof present === "boolean" ? present : String(present);
  return type === "double" ? Number(present) : new GoInt(BigInt(String(present)), type);
}

/** A value of an enum, which prints its name. */
export class EnumView extends MethodStruct {
  protected override readonly members;

  constructor(override readonly goType: string, readonly value: Value) {
    super();
    this.members = { String: () => this.text(), Number: () => this.integer() };
  }

  override toJSONValue(): GoValue {
    return this.number();
  }

  override text(): string {
    return String(this.value);
  }

  override integer(): GoInt {
    return new GoInt(this.number(), "int32");
  }

  private number(): bigint {
    const { value } = this;
    return BigInt(typeof value === "string" ? enumType(this.goType).numbers.get(value) ?? 0 : Number(value));
  }
}

/** A pointer to a wrapper such as `wrapperspb.BoolValue`; nil if the field is unset. */
export class WrapperView extends MethodStruct {
  override readonly goType: string;
  protected override readonly members;

  constructor(readonly value: Value | undefined, readonly type: Scalar, name: string) {
    super();
    this.goType = `*wrapperspb.${name}`;
    this.members = {
      GetValue: () => scalarView(value, type),
      String: () => this.text(),
      ...(value === undefined ? {} : { Value: () => scalarView(value, type) }),
    };
  }

  override get isNil(): boolean {
    return this.value === undefined;
  }

  override fieldNames(): readonly string[] {
    return ["Value"];
  }

  override toJSONValue(): GoValue {
    return this.value ?? null;
  }

  override text(): string {
    if (this.value === undefined) return "<nil>";
    return this.value === zeroScalar(this.type) ? "" : `value:${this.value}`;
  }
}

/** A pointer to a `durationpb.Duration`; nil if the field is unset. */
export class DurationView extends MethodStruct {
  override readonly goType = "*durationpb.Duration";
  readonly nanoseconds: bigint;
  protected override readonly members;

  constructor(readonly value: string | undefined) {
    super();
    this.nanoseconds = nanosecondsOf(value ?? "0s");
    const seconds = () => new GoInt(this.nanoseconds / SECOND, "int64");
    const nanos = () => new GoInt(this.nanoseconds % SECOND, "int32");
    this.members = {
      AsDuration: () => new GoDuration(this.nanoseconds),
      GetSeconds: seconds,
      GetNanos: nanos,
      IsValid: () => value !== undefined,
      String: () => this.text(),
      ...(value === undefined ? {} : { Seconds: seconds, Nanos: nanos }),
    };
  }

  override get isNil(): boolean {
    return this.value === undefined;
  }

  override fieldNames(): readonly string[] {
    return ["Seconds", "Nanos"];
  }

  override toJSONValue(): GoValue {
    return this.value === undefined ? null : durationText(this.nanoseconds);
  }

  override text(): string {
    if (this.value === undefined) return "<nil>";
    const seconds = this.nanoseconds / SECOND;
    const nanos = this.nanoseconds % SECOND;
    return [seconds === 0n ? "" : `seconds:${seconds}`, nanos === 0n ? "" : `nanos:${nanos}`].join(" ").trim();
  }
}

/** A `time.Duration`, which prints as `1m30s`. */
class GoDuration extends MethodStruct {
  override readonly goType = "time.Duration";
  protected override readonly members;

  constructor(readonly nanoseconds: bigint) {
    super();
    const inUnits = (unit: bigint) => Number(nanoseconds) / Number(unit);
    const whole = (unit: bigint) => new GoInt(nanoseconds / unit, "int64");
    this.members = {
      String: () => this.text(),
      Seconds: () => inUnits(SECOND),
      Minutes: () => inUnits(60n * SECOND),
      Hours: () => inUnits(3600n * SECOND),
      Nanoseconds: () => whole(1n),
      Microseconds: () => whole(1_000n),
      Milliseconds: () => whole(1_000_000n),
    };
  }

  override toJSONValue(): GoValue {
    return this.nanoseconds;
  }

  override text(): string {
    return formatDuration(this.nanoseconds);
  }

  override integer(): GoInt {
    return new GoInt(this.nanoseconds, "int64");
  }
}
