/**
 * For a gateway that a test starts (`node --import`): it kills itself with SIGKILL at an append to its journal, which is where
 * acts become durable. WEIR_KILL_AT says at which and how: `3 before` before anything of the third is written, `3 torn` in its middle,
 * `3 behind` once it is written and nobody has been answered. Appends are counted from SIGUSR2 on, `3 torn start` counts them from the
 * start on; where WEIR_KILL_TEXT is set only those count that have it, such as the name of a table or a field.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { isMainThread } from "node:worker_threads";

const [count, how, from] = (process.env.WEIR_KILL_AT ?? "").split(" ");
const text = process.env.WEIR_KILL_TEXT ?? "";
const { openSync, writeSync } = fs;
const journals = new Set();
let left = from === "start" ? Number(count) : Number.POSITIVE_INFINITY;

function die() {
  process.kill(process.pid, "SIGKILL");
  // Until the signal arrives.
  for (;;);
}

const hasText = (bytes, offset, length) =>
  text === "" || Buffer.from(bytes.buffer, bytes.byteOffset + offset, length).includes(text);

if (isMainThread && how !== undefined) {
  process.on("SIGUSR2", () => {
    left = Number(count);
  });
  fs.openSync = (path, ...more) => {
    const fd = openSync(path, ...more);
    if (String(path).endsWith(".journal")) journals.add(fd);
    else journals.delete(fd);
    return fd;
  };
  fs.writeSync = (fd, bytes, offset, length, at) => {
    const isLast = journals.has(fd) && hasText(bytes, offset, length) && --left === 0;
    if (isLast && how === "before") die();
    if (isLast && how === "torn") writeSync(fd, bytes, offset, Math.ceil(length / 2), at);
    if (isLast && how === "torn") die();
    const written = writeSync(fd, bytes, offset, length, at);
    if (isLast) die();
    return written;
  };
  syncBuiltinESMExports();
}
