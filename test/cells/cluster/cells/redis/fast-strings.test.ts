/** What V8 makes of prototypes when a process loads the code of cells: slow ones cost every model call. */
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

const NAMES = ["String", "Array", "Object", "Function", "Map", "Set", "Promise", "Uint8Array", "Buffer"];

/** In a process of its own: whether V8 has the prototypes of these as fast objects after an import. */
function fastAfter(module: string): string[] {
  const code = `
    await import(${JSON.stringify(module)});
    const isFast = new Function("object", "return %HasFastProperties(object)");
    console.log(JSON.stringify(${JSON.stringify(NAMES)}.filter((name) => isFast(globalThis[name].prototype))));`;
  const flags = ["--allow-natives-syntax", "--input-type=module", "-e", code];
  return JSON.parse(execFileSync(process.execPath, flags, { encoding: "utf8" }));
}

test("a process that talks to Redis has the same fast prototypes as one that does not", () => {
  const redis = new URL("../../../../../src/cluster/cells/redis/redis.ts", import.meta.url).href;
  expect(fastAfter("node:fs")).toEqual(NAMES);
  expect(fastAfter(redis)).toEqual(NAMES);
});

test("ioredis alone takes that of strings away", () => {
  // Once it does not any more, `fast-strings.ts` can go.
  expect(fastAfter(import.meta.resolve("ioredis"))).not.toContain("String");
});
