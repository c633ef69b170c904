/** `node scripts/wasm.ts` assembles the WebAssembly of {@link SOURCES}; a test compares the results with what is kept beside them. */
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import wabt from "wabt";

const SOURCE_DIR = join(import.meta.dirname, "../src");

/** Paths in `src`, without their ending. */
export const SOURCES: readonly string[] = ["base/scan/runs", "base/scan/scan", "store/journal/sum"];

/** @param source one of {@link SOURCES}. @throws Error with the line at fault */
export async function assembled(source: string): Promise<Uint8Array> {
  const { parseWat } = await wabt();
  const text = readFileSync(join(SOURCE_DIR, `${source}.wat`), "utf8");
  const module = parseWat(`${basename(source)}.wat`, text, { simd: true, bulk_memory: true });
  try {
    module.resolveNames();
    module.validate();
    return module.toBinary({}).buffer;
  } finally {
    module.destroy();
  }
}

if (import.meta.main)
  for (const source of SOURCES) writeFileSync(join(SOURCE_DIR, `${source}.wasm`), await assembled(source));
