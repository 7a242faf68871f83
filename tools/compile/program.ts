import { start } from "./loader.ts";
import { packOfProgram } from "./place.ts";

start(packOfProgram());
