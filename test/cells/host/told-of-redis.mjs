/** Loaded before a program: writes to the file of `WEIR_TEST_LOADED` when the client of Redis is loaded. */
import { appendFileSync } from "node:fs";
import { registerHooks } from "node:module";

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === "ioredis") appendFileSync(process.env.WEIR_TEST_LOADED, `${specifier}\n`);
    return next(specifier, context);
  },
});
