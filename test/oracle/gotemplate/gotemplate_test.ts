import assert from "node:assert/strict";
import fc from "fast-check";
import { parse as parseYaml } from "../../../src/core/yaml/mod.ts";
