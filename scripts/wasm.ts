/** `node scripts/wasm.ts` assembles the WebAssembly of `src/base/scan/scan.wat`; a test compares the result with what is kept. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import wabt from "wabt";

const FOLDER = join(import.meta.dirname, "../src/base/scan");

/** @throws Error with the line at fault */
export async function assembled(): Promise<Uint8Array> {
  const { parseWat } = await wabt();
  const text = readFileSync(join(FOLDER, "scan.wat"), "utf8");
  const module = parseWat("scan.wat", text, { simd: true, bulk_memory: true });
  try {
    module.resolveNames();
    module.validate();
    return module.toBinary({}).buffer;
  } finally {
    module.destroy();
  }
}

if (import.meta.main) writeFileSync(join(FOLDER, "scan.wasm"), await assembled());
