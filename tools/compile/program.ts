import { start } from "./loader.ts";

start(`${import.meta.dirname}/program.pack`);
