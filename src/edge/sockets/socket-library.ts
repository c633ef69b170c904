/**
 * Checks that uWebSockets.js' binary is the one that was pinned, before it is loaded: the npm package is a third party's repack, and a native
 * binary may do all that the process may. Hashed once a start, before anything is served: 7 MB take some 10 ms.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";

/** SHA-256 of each binary in `uws-pack` 20.0.8 that a Node of ours can load: system, processor, ABI of the Node (127: Node 22). */
const PINNED: Readonly<Record<string, string>> = {
  "uws_darwin_arm64_127.node": "abbeea53d48e21c01808203e9f9835728f2cea720d2e5b154837ee3045b513be",
  "uws_darwin_x64_127.node": "afd992dc1ca1e33cdc7ce0c72a60baf236e590a257fcecbbbce7bc1a35451387",
  "uws_linux_arm64_127.node": "d4c4f8b2c28c5f6544b49e36d91b0beee238a5b90a07904a947f77061c8b814d",
  "uws_linux_x64_127.node": "8cabc918bbf9a07323e54f89a33882491080b2eb35df0607f473ccdb1f3c31af",
};

/** Which binary is read, and what it must be. */
export interface Binary {
  readonly folder: string;
  /** Such as `uws_linux_x64_127.node`. */
  readonly name: string;
}

const loaded: Binary = {
  folder: join(dirname(findPackageJSON("uWebSockets.js", import.meta.url) ?? ""), "dist", "bin"),
  name: `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`,
};

/** @throws Error for the operator, where the binary is not the pinned one, cannot be read, or none is pinned for this system */
export function assertPinned({ folder, name }: Binary = loaded): void {
  const file = join(folder, name);
  const expected = PINNED[name];
  if (expected === undefined) {
    const known = Object.keys(PINNED).join(", ");
    throw new Error(
      `There is no pinned binary of uWebSockets.js for this system and Node: ${name}. There are: ${known}.`,
    );
  }
  let found: string;
  try {
    found = createHash("sha256").update(readFileSync(file)).digest("hex");
  } catch (error) {
    throw new Error(`${file} cannot be read (${(error as Error).message}). ${REMEDY}`);
  }
  if (found !== expected) {
    throw new Error(`${file} is not the pinned binary: SHA-256 ${found}, expected ${expected}. ${REMEDY}`);
  }
}

const REMEDY =
  "Nothing of it was run. Remove node_modules and install again; if that does not help, do not start: the package was changed.";
