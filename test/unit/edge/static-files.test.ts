/** Files that lie beside themselves compressed are sent in the coding that a client takes. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { codedFor, readStaticFiles, type StaticFiles } from "../../../src/edge/static-files.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-static-"));
let read: StaticFiles;
beforeAll(() => {
  mkdirSync(join(folder, "deep"));
  for (const name of ["main.js", "main.js.br", "main.js.gz", "deep/plain.css", "lone.gz"])
    writeFileSync(join(folder, name), `content of ${name}`);
  read = readStaticFiles("/assets/", folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const sentTo = (accepted: string): string => {
  const file = read.files.get("main.js");
  return file === undefined ? "" : codedFor(file, accepted).body.toString();
};

test.each([
  ["", "main.js"],
  ["identity", "main.js"],
  ["gzip, deflate, br, zstd", "main.js.br"],
  ["gzip", "main.js.gz"],
  ["br;q=0, GZIP;q=0.5", "main.js.gz"],
  ["br;q=0.001", "main.js.br"],
  ["gzip;q=0, br;q=0.0", "main.js"],
  ["brotli, x-gzip", "main.js"],
  ["br;Q=0, gzip", "main.js.gz"],
  ["BR ; Q=0.000 , GZip\t;\tq=1.000", "main.js.gz"],
  ["gzip, br;q=0.5", "main.js.gz"],
  ["gzip;q=0.5, br;q=0.5", "main.js.br"],
  ["*", "main.js.br"],
  ["br;q=0, *", "main.js.gz"],
  ["*;q=0", "main.js"],
  ["gzip, *;q=0", "main.js.gz"],
  ["*;q=0, identity", "main.js"],
  ["identity;q=0, gzip", "main.js.gz"],
  ["identity;q=0", "main.js"],
  ["identity;q=0, *;q=0", "main.js"],
  ["identity, br;q=0.5", "main.js"],
  ["identity;q=0.5, gzip;q=0.8", "main.js.gz"],
  ["identity, br", "main.js.br"],
  ["br;q=none, gzip;q=2", "main.js"],
  ["br;q=", "main.js"],
  ["br;level=1;q=0, gzip;level=1", "main.js.gz"],
])("to a client that takes %j it sends %s", (accepted, name) => {
  expect(sentTo(accepted)).toBe(`content of ${name}`);
});

test("each coding has an entity tag of its own, and the compressed files no address", () => {
  const file = read.files.get("main.js");
  if (file === undefined) throw new Error("main.js is not there");
  const tags = ["", "gzip", "br"].map((accepted) => codedFor(file, accepted).etag);
  expect(new Set(tags).size).toBe(3);
  expect([...read.files.keys()].sort()).toEqual(["deep/plain.css", "lone.gz", "main.js"]);
});
