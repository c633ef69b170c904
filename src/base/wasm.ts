/** Modules of WebAssembly that are kept beside the sources that use them: `node scripts/wasm.ts` assembles them from their text. */
import { readFileSync } from "node:fs";

/** The types of Node have no WebAssembly of their own: they take a browser's. */
declare const WebAssembly: {
  readonly Module: new (code: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};

/** @param file path of the module. @returns what it exports, as an interface that its caller knows. @throws Error where it is no module */
export function exportsOf<T>(file: string): T {
  return new WebAssembly.Instance(new WebAssembly.Module(readFileSync(file))).exports as T;
}
